-- Uses: primary key of article_removed.
SELECT article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content, content_html,
    removed_at, moderator_id, moderator_name, reason
FROM article_removed
WHERE article_id = ?1
