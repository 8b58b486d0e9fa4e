-- Whether a connection of ours waits for its client: not one whose COMMIT waits for a replica. Uses: no table of ours.
SELECT 1
FROM information_schema.processlist
WHERE id = ? AND command = 'Sleep'
