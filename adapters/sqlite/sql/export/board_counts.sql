-- The next slice to be moved. Uses: primary key of board_article_count.
SELECT board_id, article_count, version, greatest_id, state
FROM board_article_count
WHERE board_id > ?
ORDER BY board_id
LIMIT ?
