-- Whether there is a map yet. A whole scan of 64 rows.
SELECT COUNT(*)
FROM shard_map
