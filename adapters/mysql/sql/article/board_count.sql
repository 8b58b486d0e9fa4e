-- A board's counter. Uses: primary key of board_article_count.
SELECT board_id, article_count, version, greatest_id, state
FROM board_article_count
WHERE shard = ? AND board_id = ?
