-- Uses: primary key of session.
UPDATE session
SET last_seen_at = max(last_seen_at, ?2)
WHERE session_id = ?1
