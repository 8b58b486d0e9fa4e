-- Days that a list is kept of, with their shards: eight at most. A whole scan.
SELECT DISTINCT shard, day
FROM hot_final
