-- The whole directory, oldest first: a site has few boards. Uses: primary key of board.
SELECT board_id, slug, title, comment_mode, created_at, description, position
FROM board FORCE INDEX (PRIMARY)
WHERE shard = 0
ORDER BY board_id
