-- Of some articles those that are gone. Uses: primary key of comment_article_gone.
SELECT article_id
FROM comment_article_gone FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
