-- Counters as they were decided under their lock. Uses: primary key of article_view_count.
INSERT INTO article_view_count (shard, article_id, view_count, version)
VALUES
-- rows, joined by ,
(?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE view_count = VALUES(view_count), version = VALUES(version)
