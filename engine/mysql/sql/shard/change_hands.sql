-- A new owner; one that is known to be newer stays. Uses: primary key of shard_map.
UPDATE shard_map
SET server = ?, epoch = ?, writable = 0
WHERE shard = ? AND epoch < ?
