-- Uses: primary key of comment.
DELETE c FROM comment c FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(c.shard = ? AND c.comment_id = ?)
