-- Uses: primary key of topology.
SELECT shard_map, server
FROM topology
WHERE id = 1
