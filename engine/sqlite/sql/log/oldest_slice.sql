-- The oldest entries and their age, by primary key.
SELECT position, occurred_at FROM event_log ORDER BY position LIMIT ?1
