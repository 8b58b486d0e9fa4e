-- Uses: primary key of member.
UPDATE member
SET role = ?, password_hash = ?, standing = ?
WHERE shard = 0 AND member_id = ?
