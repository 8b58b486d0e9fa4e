-- Rows of a site that moves here; those that came before stay. Uses: primary key of revocation.
INSERT INTO revocation (shard, position, session_id, expires_at, member_id, role, standing) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE position = position
