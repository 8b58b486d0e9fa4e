-- Uses: primary key of like_article_gone.
DELETE g FROM like_article_gone g FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(g.shard = ? AND g.article_id = ?)
