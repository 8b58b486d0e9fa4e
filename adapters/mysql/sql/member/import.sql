-- Rows of a site that moves here; those that came before stay. Uses: primary key of member.
INSERT INTO member (shard, member_id, name, name_key, role, password_hash, created_at, standing, skeleton) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE member_id = member_id
