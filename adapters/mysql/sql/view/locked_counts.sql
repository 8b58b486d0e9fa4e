-- The counters of a batch, which are locked and so all there, whether their article is gone, and what the mark replaced.
-- Uses: primary key of article_view_count, primary key of view_article_gone.
SELECT c.article_id, c.view_count, c.version, g.article_id IS NOT NULL, COALESCE(g.view_count, 0), COALESCE(g.version, 0)
FROM article_view_count c FORCE INDEX (PRIMARY)
LEFT JOIN view_article_gone g ON g.shard = c.shard AND g.article_id = c.article_id
WHERE
-- rows, joined by OR
(c.shard = ? AND c.article_id = ?)
