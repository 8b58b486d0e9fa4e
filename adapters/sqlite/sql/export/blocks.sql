-- The next slice to be moved. Uses: primary key of article_block.
SELECT board_id, level, first_id, article_count
FROM article_block
WHERE (board_id, level, first_id) > (?, ?, ?)
ORDER BY board_id, level, first_id
LIMIT ?
