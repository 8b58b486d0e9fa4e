-- Counts all rows. A whole scan.
SELECT COUNT(*)
FROM outbox
