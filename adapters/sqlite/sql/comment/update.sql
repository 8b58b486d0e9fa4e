-- A comment with a new text, or what is left of it as a mark. Uses: primary key of comment.
UPDATE comment
SET deleted = ?2, writer_id = ?3, writer_name = ?4, content = ?5, content_html = ?6, version = ?7, modified_at = ?8
WHERE comment_id = ?1
