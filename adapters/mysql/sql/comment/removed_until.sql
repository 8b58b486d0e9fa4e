-- What was removed long ago, whatever its shard, the oldest first. Uses: comment_removed_by_time.
SELECT comment_id
FROM comment_removed FORCE INDEX (comment_removed_by_time)
WHERE removed_at <= ?
ORDER BY removed_at
LIMIT ?
