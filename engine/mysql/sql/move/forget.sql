-- Uses: primary key of shard_move.
DELETE FROM shard_move
WHERE shard = ? AND epoch = ?
