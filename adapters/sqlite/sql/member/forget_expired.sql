-- One slice. Uses: revocation_expiry (covering) to choose, primary key to delete.
DELETE FROM revocation
WHERE position IN (
    SELECT position FROM revocation
    WHERE session_id IS NOT NULL AND expires_at <= ?1
    ORDER BY expires_at
    LIMIT ?2)
