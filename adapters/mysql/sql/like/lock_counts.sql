-- Locks the counters of a batch in the order of their keys, those of articles that had none included. Uses: primary key
-- of article_like_count.
INSERT INTO article_like_count (shard, article_id, like_count, version)
VALUES
-- rows, joined by ,
(?, ?, 0, 0)
-- after the rows
ON DUPLICATE KEY UPDATE version = version
