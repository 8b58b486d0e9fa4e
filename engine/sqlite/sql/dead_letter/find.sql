-- One letter, by primary key.
SELECT letter_id, event_id, topic, key, shard, occurred_at, headers, payload, died_at
FROM dead_letter
WHERE letter_id = ?1
