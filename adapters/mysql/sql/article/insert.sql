-- Uses: primary key of article.
INSERT INTO article (shard, article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title,
    content, content_html)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
