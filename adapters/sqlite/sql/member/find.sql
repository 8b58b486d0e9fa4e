-- Uses: primary key of member.
SELECT member_id, name, role, created_at
FROM member
WHERE member_id = ?1
