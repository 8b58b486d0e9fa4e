-- A slice of the keys of a shard. Uses: primary key of shard_change.
DELETE FROM shard_change
WHERE shard = ?
ORDER BY change_id
LIMIT ?
