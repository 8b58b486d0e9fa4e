-- A final list in its order, without what is removed for now. Uses: primary keys of hot_final and hot_score.
SELECT article_id, score, like_count, comment_count, view_count
FROM hot_final f
WHERE day = ?1
    AND NOT EXISTS (SELECT 1 FROM hot_score s WHERE s.day = f.day AND s.article_id = f.article_id AND s.hidden = 1)
ORDER BY place
