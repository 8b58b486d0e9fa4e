-- Uses: primary key of article.
DELETE FROM article
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
