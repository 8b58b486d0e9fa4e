-- Counters as they were decided under their lock. Uses: primary key of article_like_count.
INSERT INTO article_like_count (shard, article_id, like_count, version)
VALUES
-- rows, joined by ,
(?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE like_count = VALUES(like_count), version = VALUES(version)
