-- A slice of the ended sessions whose tokens have expired; changed roles have no expiry. Uses: revocation_expiry.
DELETE FROM revocation
WHERE shard = 0 AND expires_at <= ?
ORDER BY expires_at
LIMIT ?
