-- A slice of a day's scores. Uses: primary key of hot_score, twice.
DELETE FROM hot_score
WHERE day = ?1
  AND article_id IN (SELECT article_id FROM hot_score WHERE day = ?1 ORDER BY article_id LIMIT ?2)
