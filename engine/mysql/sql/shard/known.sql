-- Every server with the shards that it holds, as this server knows them: 64 rows, and one for each server without shards. Whole
-- scans of two tables of at most 64 rows.
SELECT s.server, s.address, m.shard, m.epoch, m.writable
FROM shard_server s
LEFT JOIN shard_map m ON m.server = s.server
