-- Uses: primary key of board.
SELECT board_id, slug, title, comment_mode, created_at, description, position
FROM board
WHERE shard = 0 AND board_id = ?
