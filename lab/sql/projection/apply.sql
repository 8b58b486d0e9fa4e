-- Applies an event: the latest balance by version, and what is counted. Reaches no row while the account is on hold.
-- Uses: primary keys of account_hold and account_projection.
INSERT INTO account_projection (account_id, balance, version, updated_at, entries, entries_sum, late)
SELECT ?, ?, ?, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED), 1, ?, 0
FROM DUAL
WHERE NOT EXISTS (SELECT 1 FROM account_hold h WHERE h.account_id = ?)
ON DUPLICATE KEY UPDATE
    late        = late + IF(VALUES(version) < account_projection.version, 1, 0),
    balance     = IF(VALUES(version) > account_projection.version, VALUES(balance), account_projection.balance),
    version     = GREATEST(account_projection.version, VALUES(version)),
    updated_at  = VALUES(updated_at),
    entries     = entries + 1,
    entries_sum = entries_sum + VALUES(entries_sum)
