-- The next slice to be moved. Uses: primary key of article_like_count.
SELECT article_id, like_count, version
FROM article_like_count
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
