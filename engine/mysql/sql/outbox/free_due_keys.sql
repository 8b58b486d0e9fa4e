-- Keys whose time has come; a table as small as the number of keys in trouble, read whole.
DELETE FROM outbox_parked_key
WHERE until_ms <= ?
