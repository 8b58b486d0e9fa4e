-- The keys of a topic's entries after a position, by index event_log_topic.
SELECT key FROM event_log INDEXED BY event_log_topic
WHERE topic = ?1 AND position > ?2
ORDER BY position
LIMIT ?3
