-- A new board counts 0 at version 0; one that an earlier attempt left behind is the same. Uses: primary key of
-- board_article_count.
INSERT INTO board_article_count (shard, board_id, article_count, version, greatest_id)
VALUES (?, ?, 0, 0, 0)
ON DUPLICATE KEY UPDATE shard = VALUES(shard)
