-- Of a board that goes. Uses: primary key of board_article_count.
DELETE FROM board_article_count
WHERE board_id = ?1
