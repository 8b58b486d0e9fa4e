-- The next slice to be moved. Uses: primary key of member.
SELECT member_id, name, name_key, role, password_hash, created_at, standing, skeleton
FROM member
WHERE member_id > ?
ORDER BY member_id
LIMIT ?
