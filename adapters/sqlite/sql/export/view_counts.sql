-- The next slice to be moved. Uses: primary key of article_view_count.
SELECT article_id, view_count, version
FROM article_view_count
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
