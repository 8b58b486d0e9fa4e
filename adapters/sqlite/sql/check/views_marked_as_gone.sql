-- Marks of a deletion on articles that are there. Reads all marks. Uses: primary keys of view_article_gone, in order, and of
-- article for each.
SELECT g.article_id
FROM view_article_gone g
WHERE EXISTS (SELECT 1 FROM article a WHERE a.article_id = g.article_id)
ORDER BY g.article_id
