-- Batch numbers of lanes that ended long ago, a slice of them. Uses: lane_batch_age.
DELETE FROM lane_batch
WHERE written_at < COALESCE(?, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)) - ?
ORDER BY written_at
LIMIT ?
