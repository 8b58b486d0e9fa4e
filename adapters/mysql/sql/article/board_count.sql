-- A board's counter. Uses: primary key of board_article_count.
SELECT article_count, version
FROM board_article_count
WHERE shard = ? AND board_id = ?
