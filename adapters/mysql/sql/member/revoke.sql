-- Uses: primary key of revocation.
INSERT INTO revocation (shard, position, session_id, expires_at, member_id, role, standing)
VALUES
-- rows, joined by ,
(0, ?, ?, ?, ?, ?, ?)
