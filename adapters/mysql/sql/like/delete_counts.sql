-- Uses: primary key of article_like_count.
DELETE FROM article_like_count
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
