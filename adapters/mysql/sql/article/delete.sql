-- Uses: primary key of article.
DELETE a FROM article a FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(a.shard = ? AND a.article_id = ?)
