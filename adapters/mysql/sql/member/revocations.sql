-- Revocations after a position. Uses: primary key of revocation.
SELECT position, session_id, expires_at, member_id, role, standing
FROM revocation FORCE INDEX (PRIMARY)
WHERE shard = 0 AND position > ?
ORDER BY position
LIMIT ?
