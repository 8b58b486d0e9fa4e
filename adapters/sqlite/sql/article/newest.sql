-- Uses: article_by_board (covering) backwards from its end.
SELECT article_id
FROM article
WHERE board_id = ?1
ORDER BY article_id DESC
LIMIT ?2
