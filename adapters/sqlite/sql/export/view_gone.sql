-- The next slice to be moved. Uses: primary key of view_article_gone.
SELECT article_id
FROM view_article_gone
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
