-- The move is past its commit point. Uses: primary key of shard_move.
UPDATE shard_move
SET phase = ?, switched_at = CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)
WHERE shard = ?
