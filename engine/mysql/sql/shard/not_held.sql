-- Whether a shard is another server's; it stays so until the transaction ends. Uses: primary key of shard_map.
SELECT 1
FROM shard_map
WHERE shard = ? AND server <> ?
LOCK IN SHARE MODE
