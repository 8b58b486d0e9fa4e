-- Under the lock of the counter. Uses: primary key of board_article_count.
UPDATE board_article_count
SET state = ?
WHERE shard = ? AND board_id = ?
