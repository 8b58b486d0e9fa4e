-- Uses: primary key of board_article_count. A new board counts 0 at version 0.
INSERT INTO board_article_count (board_id, article_count, version, greatest_id)
VALUES (?1, 0, 0, 0)
