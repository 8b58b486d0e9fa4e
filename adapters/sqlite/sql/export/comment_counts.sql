-- The next slice to be moved. Uses: primary key of article_comment_count.
SELECT article_id, comment_count, row_count, version, greatest_id, locked
FROM article_comment_count
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
