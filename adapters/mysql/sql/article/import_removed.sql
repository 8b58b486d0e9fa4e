-- Rows of a site that moves here; those that came before stay. Uses: primary key of article_removed.
INSERT INTO article_removed (shard, article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content, content_html,
    removed_at, moderator_id, moderator_name, reason) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_id = article_id
