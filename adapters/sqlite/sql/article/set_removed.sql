-- Keeps what a moderator removed; one that was restored meanwhile is kept as it is now. Uses: primary key of article_removed.
INSERT OR REPLACE INTO article_removed
    (article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content, content_html,
    removed_at, moderator_id, moderator_name, reason)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
