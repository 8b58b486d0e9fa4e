-- Where an article stands. Uses: primary key of article.
SELECT article_id, board_id, created_at
FROM article
WHERE article_id = ?1
