-- What was removed long ago, whatever its shard, the oldest first. Uses: article_removed_by_time.
SELECT article_id
FROM article_removed FORCE INDEX (article_removed_by_time)
WHERE removed_at <= ?
ORDER BY removed_at
LIMIT ?
