-- A key is free again. Uses: primary key of outbox_parked_key.
DELETE FROM outbox_parked_key
WHERE shard = ? AND message_key = ?
