-- Which boards some articles are on; that never changes. Uses: primary key of article.
SELECT article_id, board_id
FROM article FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
