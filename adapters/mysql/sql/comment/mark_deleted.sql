-- Comments that leave a mark. Uses: primary key of comment.
UPDATE comment FORCE INDEX (PRIMARY)
SET deleted = 1, content = NULL, content_html = NULL, writer_id = NULL, writer_name = NULL
WHERE
-- rows, joined by OR
(shard = ? AND comment_id = ?)
