-- Uses: member_name_key.
SELECT member_id, name, role, created_at, password_hash, standing
FROM member
WHERE shard = 0 AND name_key = ?
