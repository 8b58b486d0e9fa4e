-- Uses: primary key of board_article_count.
UPDATE board_article_count
SET article_count = ?2, version = ?3, greatest_id = ?4
WHERE board_id = ?1
