-- Rows whose key is parked: a whole scan of the few parked keys. Uses: outbox_key for the rows of each.
SELECT COUNT(*)
FROM outbox_parked_key p
STRAIGHT_JOIN outbox o FORCE INDEX (outbox_key) ON o.shard = p.shard AND o.message_key = p.message_key
WHERE p.until_ms > ?
