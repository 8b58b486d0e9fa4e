-- Uses: unique indexes member_name_key and member_skeleton, whose conflicts are outcomes and not errors.
INSERT INTO member (member_id, name, name_key, skeleton, role, password_hash, created_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (name_key) DO NOTHING
ON CONFLICT (skeleton) DO NOTHING
