-- Uses: primary key of revocation.
SELECT position, session_id, expires_at, member_id, role, standing
FROM revocation
WHERE position > ?1
ORDER BY position
LIMIT ?2
