-- A server of the cluster; one that is known stays as it is. Uses: primary key of shard_server.
INSERT INTO shard_server (server, address)
VALUES (?, ?)
ON DUPLICATE KEY UPDATE server = VALUES(server)
