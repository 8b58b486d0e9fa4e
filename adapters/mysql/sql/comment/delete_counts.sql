-- Uses: primary key of article_comment_count.
DELETE c FROM article_comment_count c FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(c.shard = ? AND c.article_id = ?)
