-- Uses: primary key of article_comment_count.
INSERT INTO article_comment_count (article_id, comment_count, row_count, version, greatest_id, locked, board_id,
    noted_version, last_comment_id, last_at, last_writer_id, last_writer_name)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?4, ?8, ?9, ?10, ?11)
ON CONFLICT (article_id) DO UPDATE
SET comment_count = excluded.comment_count, row_count = excluded.row_count, version = excluded.version,
    greatest_id = excluded.greatest_id, locked = excluded.locked, board_id = excluded.board_id,
    noted_version = excluded.noted_version, last_comment_id = excluded.last_comment_id, last_at = excluded.last_at,
    last_writer_id = excluded.last_writer_id, last_writer_name = excluded.last_writer_name
