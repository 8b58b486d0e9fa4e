-- Uses: primary key of board_article_count.
SELECT article_count, version
FROM board_article_count
WHERE board_id = ?1
