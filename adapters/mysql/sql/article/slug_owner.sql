-- Uses: board_slug.
SELECT board_id
FROM board
WHERE shard = 0 AND slug = ?
