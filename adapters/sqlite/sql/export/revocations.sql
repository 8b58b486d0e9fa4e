-- The next slice to be moved. Uses: primary key of revocation.
SELECT position, session_id, expires_at, member_id, role, standing
FROM revocation
WHERE position > ?
ORDER BY position
LIMIT ?
