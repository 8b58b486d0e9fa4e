-- Rows of a site that moves here; those that came before stay. Uses: primary key of view_article_gone.
INSERT INTO view_article_gone (shard, article_id) VALUES
-- rows, joined by ,
(?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_id = article_id
