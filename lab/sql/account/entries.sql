-- What the ledger has under these names. Uses: primary key of ledger.
SELECT tx_id, account_id, amount, balance, version
FROM ledger
WHERE tx_id IN (
-- rows, joined by ,
?
-- after the rows
)
