-- Uses: primary key of article_like_count.
SELECT like_count, version
FROM article_like_count
WHERE article_id = ?1
