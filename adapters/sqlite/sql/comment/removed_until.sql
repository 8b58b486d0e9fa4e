-- What was removed long ago, the oldest first. Uses: comment_removed_by_time (covering).
SELECT comment_id
FROM comment_removed
WHERE removed_at <= ?1
ORDER BY removed_at
LIMIT ?2
