-- Uses: primary key of article_like_count.
SELECT article_id, like_count, version
FROM article_like_count FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
