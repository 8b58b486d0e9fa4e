-- One row, by index outbox_event.
SELECT row_id, event_id, topic, key, shard, occurred_at, headers, payload FROM outbox WHERE event_id = ?1
