-- Uses: primary key of article_like.
DELETE FROM article_like
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ? AND member_id = ?)
