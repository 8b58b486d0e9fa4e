-- Published rows, all in one statement. Uses: outbox_event.
DELETE o FROM outbox o FORCE INDEX (outbox_event)
WHERE o.event_id IN (
-- rows, joined by ,
?
-- after the rows
)
