-- Rows whose key is parked: the few parked keys of some shards, and the rows of each. Uses: primary key of outbox_parked_key,
-- outbox_key.
SELECT COUNT(*)
FROM outbox_parked_key p FORCE INDEX (PRIMARY)
STRAIGHT_JOIN outbox o FORCE INDEX (outbox_key) ON o.shard = p.shard AND o.message_key = p.message_key
WHERE p.until_ms > ? AND p.shard IN (
-- rows, joined by ,
?
-- after the rows
)
