-- Uses: primary key of article_like.
DELETE l FROM article_like l FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(l.shard = ? AND l.article_id = ? AND l.member_id = ?)
