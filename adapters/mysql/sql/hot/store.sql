-- Tallies as they were merged under the lock of their day. Uses: primary key of hot_score.
INSERT INTO hot_score (shard, day, article_id, like_count, like_version, comment_count, comment_version, view_count,
    view_version, deleted, hidden, hidden_version, falling_score)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE like_count = VALUES(like_count), like_version = VALUES(like_version),
    comment_count = VALUES(comment_count), comment_version = VALUES(comment_version), view_count = VALUES(view_count),
    view_version = VALUES(view_version), deleted = VALUES(deleted), hidden = VALUES(hidden),
    hidden_version = VALUES(hidden_version), falling_score = VALUES(falling_score)
