-- Rows of a site that moves here; those that came before stay. Uses: primary key of article_comment_count.
INSERT INTO article_comment_count (shard, article_id, comment_count, row_count, version, greatest_id, locked, board_id, noted_version,
    last_comment_id, last_at, last_writer_id, last_writer_name) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_id = article_id
