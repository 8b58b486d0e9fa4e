-- The next slice to be moved. Uses: primary key of like_article_gone.
SELECT article_id
FROM like_article_gone
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
