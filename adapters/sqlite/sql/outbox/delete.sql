-- Removes published rows in one statement, by index outbox_event; the ids come as a JSON array.
DELETE FROM outbox WHERE event_id IN (SELECT value FROM json_each(?1))
