-- Uses: primary key of hot_score.
SELECT 1 FROM hot_score WHERE day = ?1 AND article_id = ?2
