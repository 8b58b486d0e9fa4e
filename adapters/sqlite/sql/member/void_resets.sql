-- Every link that is still good. Uses: password_reset_expiry.
DELETE FROM password_reset
WHERE expires_at > ?1
