-- Uses: primary key of member.
SELECT member_id, name, role, created_at
FROM member
WHERE shard = 0 AND member_id = ?
