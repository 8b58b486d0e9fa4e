-- Who runs the site. Uses: member_role.
SELECT member_id, name, role, created_at
FROM member FORCE INDEX (member_role)
WHERE shard = 0 AND role IN ('moderator', 'admin')
LIMIT ?
