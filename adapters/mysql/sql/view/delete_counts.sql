-- Uses: primary key of article_view_count.
DELETE c FROM article_view_count c FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(c.shard = ? AND c.article_id = ?)
