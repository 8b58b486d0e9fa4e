-- A move, or another run of one. Uses: primary key of shard_move.
INSERT INTO shard_move (shard, source, target, epoch, run, phase, table_name, last_key)
VALUES (?, ?, ?, ?, ?, 1, '', '')
ON DUPLICATE KEY UPDATE source = VALUES(source), target = VALUES(target), epoch = VALUES(epoch), run = VALUES(run),
    phase = 1, table_name = '', last_key = '', switched_at = NULL
