-- New lines of the ledger. Uses: primary key of ledger, ledger_account.
INSERT INTO ledger (tx_id, account_id, amount, balance, version, created_at)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?)
