-- One letter more.
INSERT INTO dead_letter (event_id, topic, key, shard, occurred_at, headers, payload, died_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
