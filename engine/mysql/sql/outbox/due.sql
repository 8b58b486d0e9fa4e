-- Unsent rows of some shards that are old enough and whose key is not parked, oldest first within a shard: a range for
-- each shard. Uses: primary key of outbox, primary key of outbox_parked_key.
SELECT o.shard, o.event_id, o.topic, o.message_key, o.occurred_at, o.headers, o.payload, o.attempts + 1
FROM outbox o FORCE INDEX (PRIMARY)
LEFT JOIN outbox_parked_key p FORCE INDEX (PRIMARY)
    ON p.shard = o.shard AND p.message_key = o.message_key AND p.until_ms > ?
WHERE p.shard IS NULL AND o.inserted_at <= ? AND o.shard IN (
-- rows, joined by ,
?
-- after the rows
)
ORDER BY o.shard, o.row_id
LIMIT ?
