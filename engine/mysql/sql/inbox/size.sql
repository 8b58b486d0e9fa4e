-- Counts all rows. A whole scan.
SELECT COUNT(*)
FROM processed_event
