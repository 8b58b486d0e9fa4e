-- How much waits of some shards: counts the rows, which is what the figure is for. Uses: primary key of outbox.
SELECT COUNT(*), MIN(inserted_at)
FROM outbox FORCE INDEX (PRIMARY)
WHERE shard IN (
-- rows, joined by ,
?
-- after the rows
)
