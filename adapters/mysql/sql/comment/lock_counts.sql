-- Locks the counters of a batch in the order of their keys, those of articles that had none included. Uses: primary key
-- of article_comment_count.
INSERT INTO article_comment_count (shard, article_id, comment_count, row_count, version, greatest_id)
VALUES
-- rows, joined by ,
(?, ?, 0, 0, 0, 0)
-- after the rows
ON DUPLICATE KEY UPDATE version = version
