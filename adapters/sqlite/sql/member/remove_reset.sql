-- Uses: primary key of password_reset.
DELETE FROM password_reset
WHERE member_id = ?1
