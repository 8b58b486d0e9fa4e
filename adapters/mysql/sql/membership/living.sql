-- Uses: primary key of instance.
SELECT instance
FROM instance
WHERE shard = 0 AND service = ? AND beat_at >= ?
ORDER BY instance
