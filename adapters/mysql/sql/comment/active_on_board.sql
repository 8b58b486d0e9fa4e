-- The same of one board. Uses: article_comment_count_on_board backwards from the moment.
SELECT article_id, last_at, version
FROM article_comment_count FORCE INDEX (article_comment_count_on_board)
WHERE board_id = ? AND last_at <= ?
ORDER BY last_at DESC, article_id DESC
LIMIT ?
