-- Where the entries of a topic after a position stand, by index event_log_topic alone.
SELECT position FROM event_log INDEXED BY event_log_topic
WHERE topic = ?1 AND position > ?2
ORDER BY position
LIMIT ?3
