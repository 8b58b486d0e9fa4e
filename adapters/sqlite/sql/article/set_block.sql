-- Uses: primary key of article_block.
UPDATE article_block
SET article_count = ?4
WHERE board_id = ?1 AND level = ?2 AND first_id = ?3
