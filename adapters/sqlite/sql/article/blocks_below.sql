-- Blocks of one level under an id, newest first; the reader stops as soon as the page is in the next one.
-- Uses: primary key of article_block, backwards.
SELECT first_id, article_count
FROM article_block
WHERE board_id = ?1 AND level = ?2 AND first_id < ?3
ORDER BY first_id DESC
