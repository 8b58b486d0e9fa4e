-- Uses: primary key of shard_move.
UPDATE shard_move
SET phase = ?, table_name = ?, last_key = ?
WHERE shard = ?
