-- Uses: primary key of article_view_count, in order.
SELECT article_id
FROM article_view_count
WHERE article_id > ?1
ORDER BY article_id
LIMIT ?2
