-- A slice of a day's counts. Uses: primary key of hot_score, in order.
SELECT like_count, like_version, comment_count, comment_version, view_count, view_version, deleted, hidden,
    hidden_version, article_id
FROM hot_score
WHERE day = ?1 AND article_id > ?2
ORDER BY article_id
LIMIT ?3
