-- Counts the rows of some shards. Uses: primary key of outbox.
SELECT COUNT(*)
FROM outbox FORCE INDEX (PRIMARY)
WHERE shard IN (
-- rows, joined by ,
?
-- after the rows
)
