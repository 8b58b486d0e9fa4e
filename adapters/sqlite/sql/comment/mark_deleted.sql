-- Uses: primary key of comment.
UPDATE comment
SET deleted = 1, content = NULL, content_html = NULL, writer_id = NULL, writer_name = NULL
WHERE comment_id = ?1
