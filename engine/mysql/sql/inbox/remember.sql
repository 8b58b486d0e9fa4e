-- Fails when the group has applied the event before. Uses: primary key of processed_event.
INSERT INTO processed_event (shard, group_name, event_id, processed_at)
VALUES (?, ?, ?, COALESCE(?, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)))
