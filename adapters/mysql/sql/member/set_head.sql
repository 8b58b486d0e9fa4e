-- Uses: primary key of revocation_head.
UPDATE revocation_head
SET position = ?
WHERE shard = 0
