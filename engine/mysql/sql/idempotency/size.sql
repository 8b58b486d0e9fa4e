-- Counts all rows. A whole scan.
SELECT COUNT(*)
FROM once_answer
