-- Whether anything that occurred before a moment still waits. A whole scan, as short as the outbox is.
SELECT 1
FROM outbox
WHERE occurred_at < ?
LIMIT 1
