-- Counters as they were decided under their lock. Uses: primary key of board_article_count.
INSERT INTO board_article_count (shard, board_id, article_count, version, greatest_id)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_count = VALUES(article_count), version = VALUES(version),
    greatest_id = VALUES(greatest_id)
