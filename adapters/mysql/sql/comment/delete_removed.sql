-- Uses: primary key of comment_removed.
DELETE r FROM comment_removed r FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(r.shard = ? AND r.comment_id = ?)
