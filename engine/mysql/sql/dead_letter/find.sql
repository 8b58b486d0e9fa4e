-- Uses: primary key of dead_letter.
SELECT shard, event_id, topic, message_key, occurred_at, headers, payload, died_at
FROM dead_letter
WHERE shard = ? AND event_id = ?
