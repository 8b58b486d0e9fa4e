-- What is shown of an account. Uses: primary key of account_projection.
SELECT balance, version
FROM account_projection
WHERE account_id = ?
