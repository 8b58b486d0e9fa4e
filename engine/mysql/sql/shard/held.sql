-- Which of these shards this server takes writes for, and whether it takes writes at all: who may write to a server that is
-- read-only, such as root, must not. Whoever fences a shard waits for the locks, and whoever comes later sees the fence. Uses:
-- primary key of shard_map.
SELECT shard, @@global.read_only
FROM shard_map FORCE INDEX (PRIMARY)
WHERE writable = 1 AND shard IN (
-- rows, joined by ,
?
-- after the rows
)
LOCK IN SHARE MODE
