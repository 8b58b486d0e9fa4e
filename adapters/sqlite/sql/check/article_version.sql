-- Uses: primary key of article.
SELECT version
FROM article
WHERE article_id = ?1
