-- The few instances of a service that were silent for too long. Uses: primary key of instance.
DELETE FROM instance
WHERE shard = 0 AND service = ? AND beat_at < ?
