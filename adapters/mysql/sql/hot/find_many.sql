-- What is known of some articles. Uses: primary key of hot_score.
SELECT article_id, like_count, like_version, comment_count, comment_version, view_count, view_version, deleted,
    hidden, hidden_version
FROM hot_score FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND day = ? AND article_id = ?)
