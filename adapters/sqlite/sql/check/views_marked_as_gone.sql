-- Marks of a deletion on articles that are there, or removed for now. Reads all marks. Uses: primary keys of view_article_gone, in order, and of
-- article and article_removed for each.
SELECT g.article_id
FROM view_article_gone g
WHERE EXISTS (SELECT 1 FROM article a WHERE a.article_id = g.article_id)
    OR EXISTS (SELECT 1 FROM article_removed r WHERE r.article_id = g.article_id)
ORDER BY g.article_id
