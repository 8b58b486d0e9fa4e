-- Keeps what moderators removed; one that was restored meanwhile is kept as it is now. Uses: primary key of article_removed.
INSERT INTO article_removed (shard, article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content, content_html,
    removed_at, moderator_id, moderator_name, reason)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE version = VALUES(version), modified_at = VALUES(modified_at), title = VALUES(title),
    content = VALUES(content), content_html = VALUES(content_html), removed_at = VALUES(removed_at),
    moderator_id = VALUES(moderator_id), moderator_name = VALUES(moderator_name), reason = VALUES(reason)
