-- Uses: primary key of article_like_count, from the cursor on.
SELECT article_id
FROM article_like_count
WHERE article_id > ?1
ORDER BY article_id
LIMIT ?2
