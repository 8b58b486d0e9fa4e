-- Rows of a site that moves here; those that came before stay. Uses: primary key of article_view_count.
INSERT INTO article_view_count (shard, article_id, view_count, version) VALUES
-- rows, joined by ,
(?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_id = article_id
