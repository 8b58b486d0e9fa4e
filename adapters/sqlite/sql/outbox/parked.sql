-- Rows whose key is parked: a whole scan of the few parked keys, and index outbox_key for the rows of each.
SELECT count(*)
FROM outbox_parked_key AS parked
CROSS JOIN outbox INDEXED BY outbox_key ON outbox.key = parked.key
WHERE parked.until_ms > ?1
