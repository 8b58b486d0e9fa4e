-- Opens an account; one that is open stays as it is. Uses: primary key of account.
INSERT INTO account (account_id, balance, version, updated_at)
VALUES (?, 0, 0, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED))
ON DUPLICATE KEY UPDATE account_id = account_id
