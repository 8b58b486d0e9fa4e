-- Uses: unique index member_name_key.
SELECT member_id, name, role, created_at, password_hash, standing
FROM member
WHERE name_key = ?1
