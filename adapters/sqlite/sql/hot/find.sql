-- Uses: primary key of hot_score.
SELECT like_count, like_version, comment_count, comment_version, view_count, view_version, deleted, hidden, hidden_version
FROM hot_score
WHERE day = ?1 AND article_id = ?2
