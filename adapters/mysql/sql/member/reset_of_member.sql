-- Uses: primary key of password_reset.
SELECT member_id, digest, expires_at
FROM password_reset
WHERE shard = 0 AND member_id = ?
