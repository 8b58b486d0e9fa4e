-- Uses: primary key of article_view_count.
SELECT article_id, view_count, version
FROM article_view_count FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
