-- Uses: primary key of instance.
INSERT INTO instance (shard, service, instance, beat_at)
VALUES (0, ?, ?, ?)
ON DUPLICATE KEY UPDATE beat_at = VALUES(beat_at)
