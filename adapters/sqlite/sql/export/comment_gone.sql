-- The next slice to be moved. Uses: primary key of comment_article_gone.
SELECT article_id
FROM comment_article_gone
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
