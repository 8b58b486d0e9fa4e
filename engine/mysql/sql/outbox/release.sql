-- One attempt less. Uses: outbox_event.
UPDATE outbox FORCE INDEX (outbox_event)
SET attempts = IF(attempts > 0, attempts - 1, 0)
WHERE event_id IN (
-- rows, joined by ,
?
-- after the rows
)
