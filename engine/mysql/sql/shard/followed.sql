-- As known.sql, with whether a shard is on its way, and whether the server has become read-only. Whole scans of two tables of at
-- most 64 rows.
SELECT s.server, s.address, m.shard, m.epoch, m.writable, m.moving, @@global.read_only
FROM shard_server s
LEFT JOIN shard_map m ON m.server = s.server
