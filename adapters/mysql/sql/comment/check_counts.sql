-- A slice of a server's counters, and whether their articles are gone. Uses: article_comment_count_by_id, primary key of
-- comment_article_gone.
SELECT c.article_id, c.comment_count, c.row_count, c.version, c.locked, c.greatest_id, g.article_id IS NOT NULL,
    c.noted_version = c.version, COALESCE(c.last_comment_id, 0)
FROM article_comment_count c FORCE INDEX (article_comment_count_by_id)
LEFT JOIN comment_article_gone g ON g.shard = c.shard AND g.article_id = c.article_id
WHERE c.article_id > ?
ORDER BY c.article_id
LIMIT ?
