-- A slice of the answers of some shards given before a moment. Uses: once_answer_by_age.
DELETE FROM once_answer
WHERE answered_at < ? AND shard IN (
-- rows, joined by ,
?
-- after the rows
)
ORDER BY answered_at
LIMIT ?
