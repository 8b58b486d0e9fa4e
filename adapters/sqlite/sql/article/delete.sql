-- Uses: primary key of article.
DELETE FROM article
WHERE article_id = ?1
