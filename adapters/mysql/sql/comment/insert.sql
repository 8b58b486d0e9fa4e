-- Uses: primary key of comment, comment_by_path.
INSERT INTO comment (shard, comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name,
    content, content_html, version, modified_at)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
