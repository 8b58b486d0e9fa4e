-- Uses: primary key of view_article_gone, in order.
SELECT article_id
FROM view_article_gone
WHERE article_id > ?1
ORDER BY article_id
LIMIT ?2
