-- Uses: primary key of session.
INSERT INTO session (session_id, member_id, created_at, last_seen_at, expires_at, passwords, agent)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
