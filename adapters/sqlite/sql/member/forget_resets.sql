-- One slice. Uses: password_reset_expiry (covering) to choose, primary key to delete.
DELETE FROM password_reset
WHERE member_id IN (
    SELECT member_id FROM password_reset
    WHERE expires_at <= ?1
    ORDER BY expires_at
    LIMIT ?2)
