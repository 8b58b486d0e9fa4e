-- Uses: primary key of article_like_count.
DELETE c FROM article_like_count c FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(c.shard = ? AND c.article_id = ?)
