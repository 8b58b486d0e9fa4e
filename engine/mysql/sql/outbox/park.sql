-- Parks the key of a row; the later end holds. Uses: outbox_event, primary key of outbox_parked_key.
INSERT INTO outbox_parked_key (shard, message_key, until_ms, reason)
SELECT o.shard, o.message_key, ?, ? FROM outbox o WHERE o.event_id = ?
ON DUPLICATE KEY UPDATE until_ms = GREATEST(outbox_parked_key.until_ms, VALUES(until_ms)), reason = VALUES(reason)
