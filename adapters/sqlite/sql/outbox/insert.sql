-- One message to publish, in the transaction of its change.
INSERT INTO outbox (event_id, topic, key, shard, occurred_at, headers, payload, inserted_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
