-- Lets positions go on above those that were given elsewhere. Uses: primary key of revocation_head.
INSERT INTO revocation_head (shard, position)
VALUES (0, ?)
ON DUPLICATE KEY UPDATE position = GREATEST(position, VALUES(position))
