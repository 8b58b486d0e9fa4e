-- Uses: primary key of node_lease.
INSERT INTO node_lease (shard, node, from_ms, until_ms)
VALUES (0, ?, ?, ?)
ON DUPLICATE KEY UPDATE from_ms = VALUES(from_ms), until_ms = VALUES(until_ms)
