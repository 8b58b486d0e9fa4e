-- Scores of a day whose article is there and scored as deleted or removed, or the other way round.
-- Uses: primary keys of hot_score and article.
SELECT article_id, max(deleted, hidden)
FROM hot_score s
WHERE day = ?1 AND article_id >= ?2
    AND max(deleted, hidden) = EXISTS (SELECT 1 FROM article a WHERE a.article_id = s.article_id)
ORDER BY article_id
