-- The newest entry of a topic, by index event_log_topic alone.
SELECT position FROM event_log INDEXED BY event_log_topic
WHERE topic = ?1
ORDER BY position DESC
LIMIT 1
