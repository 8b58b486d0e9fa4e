-- One process at a time takes a number: locks a row that is no number's. Uses: primary key of node_lease.
INSERT INTO node_lease (shard, node, from_ms, until_ms)
VALUES (0, 65535, 0, 0)
ON DUPLICATE KEY UPDATE node = node
