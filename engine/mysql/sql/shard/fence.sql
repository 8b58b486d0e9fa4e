-- Has a server take writes for a shard that it holds, or no longer. Waits for whoever is writing. Uses: primary key of shard_map.
UPDATE shard_map
SET writable = ?
WHERE shard = ? AND server = ? AND epoch = ?
