-- Reads all boards. Uses: primary key of board_article_count for each.
SELECT b.board_id
FROM board b
WHERE NOT EXISTS (SELECT 1 FROM board_article_count c WHERE c.board_id = b.board_id)
