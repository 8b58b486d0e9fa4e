-- Uses: primary key of article_comment_count.
INSERT INTO article_comment_count (article_id, comment_count, row_count, version, greatest_id, locked)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (article_id) DO UPDATE
SET comment_count = excluded.comment_count, row_count = excluded.row_count, version = excluded.version,
    greatest_id = excluded.greatest_id, locked = excluded.locked
