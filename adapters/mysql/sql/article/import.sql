-- Rows of a site that moves here; those that came before stay. Uses: primary key of article.
INSERT INTO article (
    shard, article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content,
    content_html
) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_id = article_id
