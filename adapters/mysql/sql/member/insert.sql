-- A name or looks that were taken since the look are an error of member_name_key or member_skeleton, and the calls look
-- again. Uses: primary key of member.
INSERT INTO member (shard, member_id, name, name_key, skeleton, role, password_hash, created_at)
VALUES
-- rows, joined by ,
(0, ?, ?, ?, ?, ?, ?, ?)
