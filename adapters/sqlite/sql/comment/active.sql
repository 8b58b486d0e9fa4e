-- Articles by their newest comment, the last first. Uses: article_comment_count_by_activity backwards from the moment.
SELECT article_id, last_at, version
FROM article_comment_count
WHERE last_at <= ?1
ORDER BY last_at DESC, article_id DESC
LIMIT ?2
