-- A slice of what was processed before a moment. Uses: processed_event_age.
DELETE FROM processed_event
WHERE processed_at < ?
ORDER BY processed_at
LIMIT ?
