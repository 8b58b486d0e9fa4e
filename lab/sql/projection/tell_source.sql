-- Writes beside a processed event where it came from. Reaches no row unless the event has got its name.
-- Uses: primary key of processed_event.
UPDATE processed_event
SET source_topic = ?, `partition` = ?, `offset` = ?
WHERE shard = ? AND group_name = ? AND event_id = ? AND dedup_key = ?
