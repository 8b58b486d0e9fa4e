-- Uses: primary key of session.
INSERT INTO session (shard, session_id, member_id, created_at, last_seen_at, expires_at, passwords, agent)
VALUES (0, ?, ?, ?, ?, ?, ?, ?)
