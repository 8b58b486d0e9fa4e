-- Written once, by the first start. Uses: primary key of topology.
INSERT INTO topology (id, shard_map, server)
VALUES (1, ?, ?)
ON DUPLICATE KEY UPDATE id = id
