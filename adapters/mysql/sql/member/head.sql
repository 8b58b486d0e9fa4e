-- The last position that was given. Uses: primary key of revocation_head.
SELECT position
FROM revocation_head
WHERE shard = 0
FOR UPDATE
