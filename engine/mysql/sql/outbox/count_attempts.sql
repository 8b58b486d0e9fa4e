-- One attempt more. Uses: outbox_event.
UPDATE outbox FORCE INDEX (outbox_event)
SET attempts = attempts + 1
WHERE event_id IN (
-- rows, joined by ,
?
-- after the rows
)
