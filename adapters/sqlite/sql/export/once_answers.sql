-- The next slice to be moved. Uses: primary key of once_answer.
SELECT member_id, scope, once_key, fingerprint, answer, answered_at
FROM once_answer
WHERE (member_id, scope, once_key) > (?, ?, ?)
ORDER BY member_id, scope, once_key
LIMIT ?
