-- Reads all counts. Uses: primary keys of article_view_count, in order, and of view_article_gone for each.
SELECT c.article_id, c.view_count, c.version, g.article_id IS NOT NULL
FROM article_view_count c
LEFT JOIN view_article_gone g ON g.article_id = c.article_id
ORDER BY c.article_id
