-- Reads all scores with their counts. Uses: primary key of hot_score, in order.
SELECT like_count, like_version, comment_count, comment_version, view_count, view_version, deleted, hidden, hidden_version,
    score, day, article_id
FROM hot_score
ORDER BY day, article_id
