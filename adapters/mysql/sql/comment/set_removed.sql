-- Keeps what moderators removed; what was restored meanwhile is kept as it is now. Uses: primary key of comment_removed.
INSERT INTO comment_removed (shard, comment_id, article_id, writer_id, writer_name, content, removed_at, moderator_id, moderator_name, reason)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE content = VALUES(content), removed_at = VALUES(removed_at),
    moderator_id = VALUES(moderator_id), moderator_name = VALUES(moderator_name), reason = VALUES(reason)
