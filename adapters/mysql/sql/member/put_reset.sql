-- A new link takes the place of the one before. Uses: primary key of password_reset.
INSERT INTO password_reset (shard, member_id, digest, expires_at)
VALUES (0, ?, ?, ?)
ON DUPLICATE KEY UPDATE digest = VALUES(digest), expires_at = VALUES(expires_at)
