-- One row. Uses: outbox_event.
SELECT shard, event_id, topic, message_key, occurred_at, headers, payload
FROM outbox
WHERE event_id = ?
