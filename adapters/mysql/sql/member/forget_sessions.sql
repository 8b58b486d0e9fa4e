-- A slice of the sessions that have expired. Uses: session_expiry.
DELETE FROM session
WHERE shard = 0 AND expires_at <= ?
ORDER BY expires_at
LIMIT ?
