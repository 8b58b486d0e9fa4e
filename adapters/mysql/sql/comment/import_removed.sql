-- Rows of a site that moves here; those that came before stay. Uses: primary key of comment_removed.
INSERT INTO comment_removed (shard, comment_id, article_id, writer_id, writer_name, content, removed_at, moderator_id, moderator_name, reason) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE comment_id = comment_id
