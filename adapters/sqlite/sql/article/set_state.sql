-- Uses: primary key of board_article_count.
UPDATE board_article_count
SET state = ?2
WHERE board_id = ?1
