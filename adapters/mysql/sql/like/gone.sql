-- Of some articles those that are gone. Uses: primary key of like_article_gone.
SELECT article_id
FROM like_article_gone FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
