-- A name that was taken since the look is an error of member_name_key, and the calls look again. Uses: primary key of
-- member.
INSERT INTO member (shard, member_id, name, name_key, role, password_hash, created_at)
VALUES
-- rows, joined by ,
(0, ?, ?, ?, ?, ?, ?)
