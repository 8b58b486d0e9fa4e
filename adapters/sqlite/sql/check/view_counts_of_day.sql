-- The counters of the articles of a day, each with its score. Uses: primary keys of article_view_count, hot_score and article.
SELECT c.article_id, c.view_count, c.version, s.view_count, s.view_version
FROM article_view_count c
LEFT JOIN hot_score s ON s.day = ?3 AND s.article_id = c.article_id
WHERE c.article_id >= ?1 AND c.article_id < ?2
    AND coalesce(s.deleted, 0) = 0 AND coalesce(s.hidden, 0) = 0
    AND EXISTS (SELECT 1 FROM article a WHERE a.article_id = c.article_id)
ORDER BY c.article_id
