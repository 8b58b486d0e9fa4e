-- Uses: primary key of comment_article_gone.
DELETE g FROM comment_article_gone g FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(g.shard = ? AND g.article_id = ?)
