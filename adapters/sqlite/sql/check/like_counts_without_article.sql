-- Reads all counters. Uses: primary keys of article_like_count, in order, of article, of article_removed and of like_article_gone for each.
SELECT c.article_id
FROM article_like_count c
WHERE NOT EXISTS (SELECT 1 FROM article a WHERE a.article_id = c.article_id)
    AND NOT EXISTS (SELECT 1 FROM article_removed r WHERE r.article_id = c.article_id)
    AND NOT EXISTS (SELECT 1 FROM like_article_gone g WHERE g.article_id = c.article_id)
ORDER BY c.article_id
