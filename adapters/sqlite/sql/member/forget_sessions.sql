-- One slice. Uses: session_expiry (covering) to choose, primary key to delete.
DELETE FROM session
WHERE session_id IN (
    SELECT session_id FROM session
    WHERE expires_at <= ?1
    ORDER BY expires_at
    LIMIT ?2)
