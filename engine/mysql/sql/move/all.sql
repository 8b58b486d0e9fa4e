-- Every move that is not finished, as this server knows it: 64 at most. A whole scan.
SELECT shard, source, target, epoch, run, phase, table_name, last_key, switched_at
FROM shard_move
