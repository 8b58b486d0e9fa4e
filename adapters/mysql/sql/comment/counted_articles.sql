-- Articles that have a counter, from the cursor on, whatever their shard. Uses: article_comment_count_by_id.
SELECT article_id
FROM article_comment_count FORCE INDEX (article_comment_count_by_id)
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
