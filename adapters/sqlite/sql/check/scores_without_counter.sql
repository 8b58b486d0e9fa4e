-- Scores of a day that count what no counter does. Uses: primary keys of hot_score and of the three counters.
SELECT article_id, like_count, like_version, comment_count, comment_version, view_count, view_version,
    EXISTS (SELECT 1 FROM article_like_count c WHERE c.article_id = s.article_id),
    EXISTS (SELECT 1 FROM article_comment_count c WHERE c.article_id = s.article_id),
    EXISTS (SELECT 1 FROM article_view_count c WHERE c.article_id = s.article_id)
FROM hot_score s
WHERE day = ?1 AND article_id >= ?2 AND deleted = 0 AND hidden = 0
    AND EXISTS (SELECT 1 FROM article a WHERE a.article_id = s.article_id)
ORDER BY article_id
