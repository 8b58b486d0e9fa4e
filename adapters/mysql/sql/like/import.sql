-- Rows of a site that moves here; those that came before stay. Uses: primary key of article_like.
INSERT INTO article_like (shard, article_id, member_id, member_name, created_at) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_id = article_id
