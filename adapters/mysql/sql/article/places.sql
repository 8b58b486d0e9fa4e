-- Where articles stand. Uses: primary key of article.
SELECT article_id, board_id, created_at
FROM article FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
