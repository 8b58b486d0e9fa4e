-- One attempt less, by index outbox_event; the ids come as a JSON array.
UPDATE outbox SET attempts = max(attempts - 1, 0) WHERE event_id IN (SELECT value FROM json_each(?1))
