-- Uses: primary key of member.
SELECT member_id, name, role, created_at, password_hash, standing
FROM member
WHERE member_id = ?1
