-- A key is free again, by primary key.
DELETE FROM outbox_parked_key WHERE key = ?1
