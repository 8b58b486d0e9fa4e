-- Rows of a site that moves here; those that came before stay. Uses: primary key of comment.
INSERT INTO comment (
    shard, comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content,
    content_html, version, modified_at
) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE comment_id = comment_id
