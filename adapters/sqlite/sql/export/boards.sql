-- The next slice to be moved. Uses: primary key of board.
SELECT board_id, slug, title, comment_mode, created_at, description, position
FROM board
WHERE board_id > ?
ORDER BY board_id
LIMIT ?
