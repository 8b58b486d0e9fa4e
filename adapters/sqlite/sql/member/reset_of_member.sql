-- Uses: primary key of password_reset.
SELECT member_id, digest, expires_at
FROM password_reset
WHERE member_id = ?1
