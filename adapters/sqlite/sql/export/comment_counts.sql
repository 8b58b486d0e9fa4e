-- The next slice to be moved. Uses: primary key of article_comment_count.
SELECT article_id, comment_count, row_count, version, greatest_id, locked, board_id, noted_version,
    last_comment_id, last_at, last_writer_id, last_writer_name
FROM article_comment_count
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
