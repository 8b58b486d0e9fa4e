-- A slice of what was processed of some shards before a moment. Uses: processed_event_age.
DELETE FROM processed_event
WHERE processed_at < ? AND shard IN (
-- rows, joined by ,
?
-- after the rows
)
ORDER BY processed_at
LIMIT ?
