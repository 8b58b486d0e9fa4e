-- Scores of a day whose article is there and scored as deleted, or the other way round.
-- Uses: primary keys of hot_score and article.
SELECT article_id, deleted
FROM hot_score s
WHERE day = ?1 AND article_id >= ?2
    AND deleted = EXISTS (SELECT 1 FROM article a WHERE a.article_id = s.article_id)
ORDER BY article_id
