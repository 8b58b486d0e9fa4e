-- Of some pairs those that are there. Uses: primary key of article_like.
SELECT article_id, member_id
FROM article_like FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ? AND member_id = ?)
