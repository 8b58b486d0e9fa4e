-- Published rows, all in one statement. Uses: outbox_event.
DELETE FROM outbox
WHERE event_id IN (
-- rows, joined by ,
?
-- after the rows
)
