-- The entries of a topic after a position and up to another, by index event_log_topic, which ends in the position.
SELECT position, event_id, topic, key, shard, occurred_at, headers, payload
FROM event_log INDEXED BY event_log_topic
WHERE topic = ?1 AND position > ?2 AND position <= ?4
ORDER BY position
LIMIT ?3
