-- A slice of the links that are no longer good. Uses: password_reset_expiry.
DELETE FROM password_reset
WHERE shard = 0 AND expires_at <= ?
ORDER BY expires_at
LIMIT ?
