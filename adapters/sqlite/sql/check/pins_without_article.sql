-- Pins of a board whose articles are not there. Uses: article_pin_by_board, primary key of article.
SELECT p.article_id
FROM article_pin p
WHERE p.board_id = ?1
    AND NOT EXISTS (SELECT 1 FROM article a WHERE a.article_id = p.article_id AND a.board_id = p.board_id)
ORDER BY p.article_id
