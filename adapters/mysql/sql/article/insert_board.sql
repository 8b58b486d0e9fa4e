-- A slug that is taken is an error of board_slug, and an outcome. Uses: primary key of board.
INSERT INTO board (shard, board_id, slug, title, comment_mode, created_at, description, position)
VALUES (0, ?, ?, ?, ?, ?, ?, ?)
