-- Every link. Uses: primary key of password_reset.
DELETE FROM password_reset
WHERE shard = 0
