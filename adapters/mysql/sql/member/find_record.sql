-- Uses: primary key of member.
SELECT member_id, name, role, created_at, password_hash, standing
FROM member
WHERE shard = 0 AND member_id = ?
