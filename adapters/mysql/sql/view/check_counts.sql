-- A slice of a shard's counters, and whether their articles are gone. Uses: primary key of article_view_count, primary key
-- of view_article_gone.
SELECT c.article_id, c.view_count, c.version, g.article_id IS NOT NULL
FROM article_view_count c FORCE INDEX (PRIMARY)
LEFT JOIN view_article_gone g ON g.shard = c.shard AND g.article_id = c.article_id
WHERE c.shard = ? AND c.article_id > ?
ORDER BY c.article_id
LIMIT ?
