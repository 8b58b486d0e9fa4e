-- Rows of a site that moves here; those that came before stay. Uses: primary key of board.
INSERT INTO board (shard, board_id, slug, title, comment_mode, created_at, description, position) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE board_id = board_id
