-- When the first entry of a topic after a position occurred, by event_log_topic.
SELECT occurred_at
FROM event_log INDEXED BY event_log_topic
WHERE topic = ?1 AND position > ?2
ORDER BY position
LIMIT 1
