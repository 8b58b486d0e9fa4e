-- Uses: primary key of session.
SELECT session_id, member_id, created_at, last_seen_at, expires_at, passwords, agent
FROM session
WHERE shard = 0 AND session_id = ?
