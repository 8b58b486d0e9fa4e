-- A slice of the answers given before a moment. Uses: once_answer_by_age.
DELETE FROM once_answer
WHERE answered_at < ?
ORDER BY answered_at
LIMIT ?
