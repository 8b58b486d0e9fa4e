-- Counters that a version before wrote, from the cursor on, whatever their shard. Uses: article_comment_count_by_id.
SELECT article_id
FROM article_comment_count FORCE INDEX (article_comment_count_by_id)
WHERE article_id > ? AND comment_count > 0 AND (board_id IS NULL OR noted_version <> version)
ORDER BY article_id
LIMIT ?
