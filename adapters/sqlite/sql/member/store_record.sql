-- Uses: primary key of member.
UPDATE member
SET role = ?2, password_hash = ?3, standing = ?4
WHERE member_id = ?1
