-- Uses: primary key of article_block.
INSERT INTO article_block (board_id, level, first_id, article_count)
VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (board_id, level, first_id) DO UPDATE
SET article_count = excluded.article_count
