-- Uses: password_reset_digest.
SELECT member_id, digest, expires_at
FROM password_reset
WHERE digest = ?1
