-- Who runs the site; the second condition is what the index is about. Uses: partial index member_staff.
SELECT member_id, name, role, created_at
FROM member
WHERE role IN ('moderator', 'admin') AND role <> 'member'
LIMIT ?1
