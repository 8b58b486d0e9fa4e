-- Uses: primary key of comment_article_gone.
SELECT 1
FROM comment_article_gone
WHERE article_id = ?1
