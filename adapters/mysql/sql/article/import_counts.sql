-- Rows of a site that moves here; those that came before stay. Uses: primary key of board_article_count.
INSERT INTO board_article_count (shard, board_id, article_count, version, greatest_id, state) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE board_id = board_id
