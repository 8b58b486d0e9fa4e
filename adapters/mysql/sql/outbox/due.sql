-- Unsent rows of some shards that are old enough and whose key is not parked, oldest first within a shard. A range for
-- each shard. Uses: primary key of outbox, primary key of outbox_parked_key.
SELECT o.shard, o.event_id, o.topic, o.message_key, o.occurred_at, o.headers, o.payload, o.attempts + 1
FROM outbox o FORCE INDEX (PRIMARY)
WHERE o.shard IN (
-- rows, joined by ,
?
-- after the rows
)
  AND o.inserted_at <= ?
  AND NOT EXISTS (
    SELECT 1 FROM outbox_parked_key p
    WHERE p.shard = o.shard AND p.message_key = o.message_key AND p.until_ms > ?)
ORDER BY o.shard, o.row_id
LIMIT ?
