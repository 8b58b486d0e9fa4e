-- The next board that has an article, counted or not: one step in the index. Uses: article_by_board (covering).
SELECT board_id
FROM article FORCE INDEX (article_by_board)
WHERE board_id > ?
ORDER BY board_id
LIMIT 1
