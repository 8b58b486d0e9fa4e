-- A slice of a shard's counters. Uses: primary key of article_like_count.
SELECT article_id, like_count, version
FROM article_like_count FORCE INDEX (PRIMARY)
WHERE shard = ? AND article_id > ?
ORDER BY article_id
LIMIT ?
