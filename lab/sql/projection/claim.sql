-- Gives a processed event its transaction's name, unless the group has applied one of that name: then the row stays without.
-- Waits for whoever is applying it. Uses: primary key of processed_event, processed_event_dedup.
UPDATE IGNORE processed_event
SET dedup_key = ?
WHERE shard = ? AND group_name = ? AND event_id = ?
