-- Nothing is inserted when the group has applied the event before; by primary key.
INSERT INTO processed_event (group_name, event_id, processed_at) VALUES (?1, ?2, ?3)
ON CONFLICT (group_name, event_id) DO NOTHING
