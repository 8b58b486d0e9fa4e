-- Uses: primary key of once_answer.
SELECT fingerprint, answer, answered_at
FROM once_answer
WHERE member_id = ?1 AND scope = ?2 AND once_key = ?3
