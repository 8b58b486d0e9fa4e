-- Marks with what they replace. Uses: primary key of view_article_gone.
INSERT INTO view_article_gone (shard, article_id, view_count, version)
VALUES
-- rows, joined by ,
(?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE shard = VALUES(shard)
