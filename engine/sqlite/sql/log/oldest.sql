-- The oldest position kept, by primary key.
SELECT position FROM event_log ORDER BY position LIMIT 1
