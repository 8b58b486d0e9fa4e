-- Blocks as they were decided under their board's lock. Uses: primary key of article_block.
INSERT INTO article_block (shard, board_id, level, first_id, article_count)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_count = VALUES(article_count)
