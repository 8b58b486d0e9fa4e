-- Uses: primary key of session.
UPDATE session
SET last_seen_at = GREATEST(last_seen_at, ?)
WHERE shard = 0 AND session_id = ?
