-- Uses: primary key of hot_score.
UPDATE hot_score SET score = ?3 WHERE day = ?1 AND article_id = ?2
