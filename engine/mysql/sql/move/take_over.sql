-- From here on another command is at work. Uses: primary key of shard_move.
UPDATE shard_move
SET run = ?
WHERE shard = ?
