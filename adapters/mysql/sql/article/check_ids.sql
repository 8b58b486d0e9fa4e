-- A slice of a board's ids, oldest first. Uses: article_by_board (covering).
SELECT article_id
FROM article FORCE INDEX (article_by_board)
WHERE board_id = ? AND article_id > ?
ORDER BY article_id
LIMIT ?
