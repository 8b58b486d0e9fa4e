-- Writes beside a processed event where it came from and under which name. Uses: primary key of processed_event.
UPDATE processed_event
SET dedup_key = ?, source_topic = ?, `partition` = ?, `offset` = ?
WHERE shard = ? AND group_name = ? AND event_id = ?
