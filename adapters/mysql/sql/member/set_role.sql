-- Uses: primary key of member.
UPDATE member
SET role = ?
WHERE shard = 0 AND member_id = ?
