-- Uses: primary key of article_like.
SELECT 1
FROM article_like
WHERE article_id = ?1 AND member_id = ?2
