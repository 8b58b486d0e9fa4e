-- A new link takes the place of the one before. Uses: primary key of password_reset.
INSERT INTO password_reset (member_id, digest, expires_at)
VALUES (?1, ?2, ?3)
ON CONFLICT (member_id) DO UPDATE SET digest = excluded.digest, expires_at = excluded.expires_at
