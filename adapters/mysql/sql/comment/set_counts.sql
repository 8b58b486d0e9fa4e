-- Counters as they were decided under their lock. Uses: primary key of article_comment_count.
INSERT INTO article_comment_count (shard, article_id, comment_count, row_count, version, greatest_id, locked, board_id, noted_version,
    last_comment_id, last_at, last_writer_id, last_writer_name)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE comment_count = VALUES(comment_count), row_count = VALUES(row_count), version = VALUES(version),
    greatest_id = VALUES(greatest_id), locked = VALUES(locked), board_id = VALUES(board_id),
    noted_version = VALUES(noted_version), last_comment_id = VALUES(last_comment_id), last_at = VALUES(last_at),
    last_writer_id = VALUES(last_writer_id), last_writer_name = VALUES(last_writer_name)
