-- Counters as they were decided under their lock. Uses: primary key of article_comment_count.
INSERT INTO article_comment_count (shard, article_id, comment_count, row_count, version, greatest_id, locked)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE comment_count = VALUES(comment_count), row_count = VALUES(row_count), version = VALUES(version),
    greatest_id = VALUES(greatest_id), locked = VALUES(locked)
