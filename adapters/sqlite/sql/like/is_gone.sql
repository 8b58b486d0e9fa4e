-- Uses: primary key of like_article_gone.
SELECT 1
FROM like_article_gone
WHERE article_id = ?1
