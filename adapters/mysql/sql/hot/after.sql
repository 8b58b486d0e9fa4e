-- A slice of a day's scores with their counts. Uses: primary key of hot_score, in order.
SELECT article_id, like_count, like_version, comment_count, comment_version, view_count, view_version, deleted,
    hidden, hidden_version, falling_score
FROM hot_score FORCE INDEX (PRIMARY)
WHERE shard = ? AND day = ? AND article_id > ?
ORDER BY article_id
LIMIT ?
