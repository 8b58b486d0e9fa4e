-- Of some articles those that are gone. Uses: primary key of view_article_gone.
SELECT article_id
FROM view_article_gone FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
