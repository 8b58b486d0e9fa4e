-- Uses: password_reset_digest.
SELECT member_id, digest, expires_at
FROM password_reset FORCE INDEX (password_reset_digest)
WHERE shard = 0 AND digest = ?
