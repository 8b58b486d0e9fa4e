-- What was removed long ago, the oldest first. Uses: article_removed_by_time (covering).
SELECT article_id
FROM article_removed
WHERE removed_at <= ?1
ORDER BY removed_at
LIMIT ?2
