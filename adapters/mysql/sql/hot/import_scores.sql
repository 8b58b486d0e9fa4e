-- Rows of a site that moves here; those that came before stay. Uses: primary key of hot_score.
INSERT INTO hot_score (
    shard, day, article_id, like_count, like_version, comment_count, comment_version, view_count, view_version,
    deleted, hidden, hidden_version, falling_score
) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_id = article_id
