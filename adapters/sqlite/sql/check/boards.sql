-- Reads all counters. Uses: primary key of board_article_count, in order.
SELECT board_id, article_count, version, greatest_id
FROM board_article_count
ORDER BY board_id
