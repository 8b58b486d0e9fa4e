-- Forgets a slice of what was processed before a moment, by index processed_event_age.
DELETE FROM processed_event WHERE (group_name, event_id) IN (
    SELECT group_name, event_id FROM processed_event INDEXED BY processed_event_age
    WHERE processed_at < ?1
    LIMIT ?2
)
