-- Locks the head of the revocations: positions are given in commit order. Uses: primary key of revocation_head.
INSERT INTO revocation_head (shard, position)
VALUES (0, 0)
ON DUPLICATE KEY UPDATE position = position
