-- Pins of a board whose articles are not there. Uses: article_pin_by_board, primary key of article.
SELECT p.article_id
FROM article_pin p FORCE INDEX (article_pin_by_board)
LEFT JOIN article a ON a.shard = p.shard AND a.article_id = p.article_id AND a.board_id = p.board_id
WHERE p.board_id = ? AND a.article_id IS NULL
