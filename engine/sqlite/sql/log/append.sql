-- One entry at the end of the log.
INSERT INTO event_log (event_id, topic, key, shard, occurred_at, headers, payload)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
