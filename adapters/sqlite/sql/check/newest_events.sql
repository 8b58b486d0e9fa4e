-- Uses: event_log_topic backwards.
SELECT position, payload
FROM event_log
WHERE topic = ?1
ORDER BY position DESC
LIMIT ?2
