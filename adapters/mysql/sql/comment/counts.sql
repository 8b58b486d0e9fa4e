-- Uses: primary key of article_comment_count.
SELECT article_id, comment_count, row_count, version, locked
FROM article_comment_count FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
