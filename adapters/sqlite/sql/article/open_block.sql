-- Uses: primary key of article_block.
INSERT INTO article_block (board_id, level, first_id, article_count)
VALUES (?1, ?2, ?3, 1)
