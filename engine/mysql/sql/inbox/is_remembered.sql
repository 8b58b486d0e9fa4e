-- Uses: primary key of processed_event.
SELECT 1
FROM processed_event
WHERE shard = ? AND group_name = ? AND event_id = ?
