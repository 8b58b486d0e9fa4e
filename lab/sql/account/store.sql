-- An account after its entries. Uses: primary key of account.
UPDATE account
SET balance = ?, version = ?, updated_at = ?
WHERE account_id = ?
