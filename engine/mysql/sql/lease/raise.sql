-- Lets every later lease begin above a time; kept in the row that is no number's. Uses: primary key of node_lease.
INSERT INTO node_lease (shard, node, from_ms, until_ms)
VALUES (0, 65535, 0, ?)
ON DUPLICATE KEY UPDATE until_ms = GREATEST(until_ms, VALUES(until_ms))
