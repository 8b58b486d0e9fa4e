-- The best of a day. Uses: hot_ranking, in its order.
SELECT article_id, CAST(-falling_score AS UNSIGNED), like_count, comment_count, view_count
FROM hot_score FORCE INDEX (hot_ranking)
WHERE shard = ? AND day = ? AND falling_score < 0
ORDER BY falling_score, article_id
LIMIT ?
