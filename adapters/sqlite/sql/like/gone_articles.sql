-- Uses: primary key of like_article_gone, in order.
SELECT article_id
FROM like_article_gone
WHERE article_id > ?1
ORDER BY article_id
LIMIT ?2
