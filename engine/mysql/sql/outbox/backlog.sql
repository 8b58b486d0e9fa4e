-- How much waits: counts the rows, which is what the figure is for. A whole scan.
SELECT COUNT(*), MIN(inserted_at)
FROM outbox
