-- Which boards some removed articles were on; that never changes. Uses: primary key of article_removed.
SELECT article_id, board_id
FROM article_removed FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
