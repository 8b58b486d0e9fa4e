-- Rows of a site that moves here; those that came before stay. Uses: primary key of article_block.
INSERT INTO article_block (shard, board_id, level, first_id, article_count) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE board_id = board_id
