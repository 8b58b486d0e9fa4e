-- A comment with a new text, or what is left of it as a mark. Uses: primary key of comment.
UPDATE comment FORCE INDEX (PRIMARY)
SET deleted = ?, writer_id = ?, writer_name = ?, content = ?, content_html = ?, version = ?, modified_at = ?
WHERE shard = ? AND comment_id = ?
