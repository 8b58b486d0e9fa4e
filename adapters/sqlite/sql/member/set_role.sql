-- Uses: primary key of member.
UPDATE member
SET role = ?2
WHERE member_id = ?1
RETURNING member_id, name, role, created_at
