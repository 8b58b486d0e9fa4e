-- The newest ids of a board. Uses: article_by_board (covering) from its end.
SELECT article_id
FROM article FORCE INDEX (article_by_board)
WHERE board_id = ?
ORDER BY article_id DESC
LIMIT ?
