-- Counts the rows of some shards. Uses: primary key of processed_event.
SELECT COUNT(*)
FROM processed_event FORCE INDEX (PRIMARY)
WHERE shard IN (
-- rows, joined by ,
?
-- after the rows
)
