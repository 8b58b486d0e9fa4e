-- The batch that this transaction is. Uses: primary key of lane_batch.
INSERT INTO lane_batch (lane_id, number, written_at)
VALUES (?, ?, COALESCE(?, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)))
ON DUPLICATE KEY UPDATE number = VALUES(number), written_at = VALUES(written_at)
