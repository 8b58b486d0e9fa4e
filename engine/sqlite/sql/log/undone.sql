-- The entries of a topic after a position with the moment of each, by index event_log_topic.
SELECT position, occurred_at FROM event_log INDEXED BY event_log_topic
WHERE topic = ?1 AND position > ?2
ORDER BY position
LIMIT ?3
