-- The same of one board. Uses: article_comment_count_on_board backwards from the moment.
SELECT article_id, last_at, version
FROM article_comment_count
WHERE board_id = ?1 AND last_at <= ?2
ORDER BY last_at DESC, article_id DESC
LIMIT ?3
