-- Uses: primary key of article_block.
SELECT first_id, article_count
FROM article_block
WHERE board_id = ?1 AND level = ?2
ORDER BY first_id
