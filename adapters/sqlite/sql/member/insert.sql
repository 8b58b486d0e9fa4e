-- Uses: unique index member_name_key, whose conflict is an outcome and not an error.
INSERT INTO member (member_id, name, name_key, role, password_hash, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (name_key) DO NOTHING
