-- Uses: primary key of shard_map.
SELECT server, epoch, writable, moving
FROM shard_map
WHERE shard = ?
