-- The next slice to be moved. Uses: primary key of hot_score.
SELECT
    day, article_id, like_count, like_version, comment_count, comment_version, view_count,
    view_version, deleted, hidden, hidden_version, score
FROM hot_score
WHERE (day, article_id) > (?, ?)
ORDER BY day, article_id
LIMIT ?
