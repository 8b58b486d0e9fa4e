-- Articles of one server by their newest comment, the last first. Uses: article_comment_count_by_activity backwards from the
-- moment.
SELECT article_id, last_at, version
FROM article_comment_count FORCE INDEX (article_comment_count_by_activity)
WHERE last_at <= ?
ORDER BY last_at DESC, article_id DESC
LIMIT ?
