-- Uses: primary key of board.
INSERT INTO board (board_id, slug, title, comment_mode, created_at, description, position)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
