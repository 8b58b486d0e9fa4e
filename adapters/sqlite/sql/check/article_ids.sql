-- Uses: article_by_board (covering).
SELECT article_id
FROM article
WHERE board_id = ?1
ORDER BY article_id
