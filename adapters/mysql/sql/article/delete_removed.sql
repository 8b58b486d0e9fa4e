-- Uses: primary key of article_removed.
DELETE r FROM article_removed r FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(r.shard = ? AND r.article_id = ?)
