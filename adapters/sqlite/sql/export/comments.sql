-- The next slice to be moved. Uses: primary key of comment.
SELECT
    comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name,
    content, content_html, version, modified_at
FROM comment
WHERE comment_id > ?
ORDER BY comment_id
LIMIT ?
