-- Rows of a site that moves here; those that came before stay. Uses: primary key of hot_final.
INSERT INTO hot_final (shard, day, place, article_id, score, like_count, comment_count, view_count) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_id = article_id
