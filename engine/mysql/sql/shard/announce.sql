-- Has processes read the map often, or no longer. Uses: primary key of shard_map.
UPDATE shard_map
SET moving = ?
WHERE shard = ?
