-- Uses: primary key of article_pin.
DELETE p FROM article_pin p FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(p.shard = ? AND p.article_id = ?)
