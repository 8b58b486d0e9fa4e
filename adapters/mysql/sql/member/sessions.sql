-- The newest sessions of a member. Uses: session_by_member.
SELECT session_id, member_id, created_at, last_seen_at, expires_at, passwords, agent
FROM session FORCE INDEX (session_by_member)
WHERE shard = 0 AND member_id = ?
ORDER BY session_id DESC
LIMIT ?
