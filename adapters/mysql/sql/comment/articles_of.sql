-- Which articles some comments are on; that never changes. Uses: primary key of comment.
SELECT comment_id, article_id
FROM comment FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND comment_id = ?)
