-- Removes the oldest entries up to a position, by primary key.
DELETE FROM event_log WHERE position <= ?1
