-- Keeps what a moderator removed; what was restored meanwhile is kept as it is now. Uses: primary key of comment_removed.
INSERT OR REPLACE INTO comment_removed
    (comment_id, article_id, writer_id, writer_name, content, removed_at, moderator_id, moderator_name, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
