-- Which of these shards this server takes writes for. Whoever fences one waits for the locks, and whoever comes later sees the
-- fence. Uses: primary key of shard_map.
SELECT shard
FROM shard_map FORCE INDEX (PRIMARY)
WHERE writable = 1 AND shard IN (
-- rows, joined by ,
?
-- after the rows
)
LOCK IN SHARE MODE
