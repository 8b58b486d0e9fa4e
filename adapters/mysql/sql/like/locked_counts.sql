-- The counters of a batch, which are locked and so all there, and whether their article is gone. Uses: primary key of
-- article_like_count, primary key of like_article_gone.
SELECT c.article_id, c.like_count, c.version, g.article_id IS NOT NULL
FROM article_like_count c FORCE INDEX (PRIMARY)
LEFT JOIN like_article_gone g ON g.shard = c.shard AND g.article_id = c.article_id
WHERE
-- rows, joined by OR
(c.shard = ? AND c.article_id = ?)
