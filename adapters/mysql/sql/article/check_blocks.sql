-- The blocks of a board, level by level, oldest first. Uses: primary key of article_block.
SELECT level, first_id, article_count
FROM article_block FORCE INDEX (PRIMARY)
WHERE shard = ? AND board_id = ?
ORDER BY level, first_id
