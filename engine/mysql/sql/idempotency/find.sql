-- Answers given to some keys. Uses: primary key of once_answer.
SELECT member_id, scope, once_key, fingerprint, answer, answered_at
FROM once_answer FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND member_id = ? AND scope = ? AND once_key = ?)
