-- Parks the key of a row, found by index outbox_event. The later end holds.
INSERT INTO outbox_parked_key (key, until_ms, reason)
SELECT key, ?2, ?3 FROM outbox WHERE event_id = ?1
ON CONFLICT (key) DO UPDATE SET until_ms = max(until_ms, excluded.until_ms), reason = excluded.reason
