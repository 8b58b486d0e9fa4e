-- The best of a day, in the order of hot_ranking.
SELECT article_id, score, like_count, comment_count, view_count
FROM hot_score INDEXED BY hot_ranking
WHERE day = ?1 AND deleted = 0 AND score > 0
ORDER BY score DESC, article_id
LIMIT ?2
