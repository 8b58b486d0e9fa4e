-- Changes nothing where somebody has these looks. Uses: primary key of member.
UPDATE OR IGNORE member
SET skeleton = ?2
WHERE member_id = ?1
