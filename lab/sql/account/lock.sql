-- Accounts as they stand, locked in the order of their ids. Uses: primary key of account.
SELECT account_id, balance, version
FROM account
WHERE account_id IN (
-- rows, joined by ,
?
-- after the rows
)
ORDER BY account_id
FOR UPDATE
