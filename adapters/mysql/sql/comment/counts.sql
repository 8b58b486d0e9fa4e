-- Uses: primary key of article_comment_count.
SELECT article_id, comment_count, row_count, version, locked, noted_version, last_comment_id, last_at, last_writer_id,
    last_writer_name
FROM article_comment_count FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
