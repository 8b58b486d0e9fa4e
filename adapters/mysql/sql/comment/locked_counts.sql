-- The counters of a batch, which are locked and so all there, and whether their article is gone. Uses: primary key of
-- article_comment_count, primary key of comment_article_gone.
SELECT c.article_id, c.comment_count, c.row_count, c.version, c.locked, c.noted_version, c.last_comment_id, c.last_at,
    c.last_writer_id, c.last_writer_name, c.greatest_id, g.article_id IS NOT NULL, c.board_id
FROM article_comment_count c FORCE INDEX (PRIMARY)
LEFT JOIN comment_article_gone g ON g.shard = c.shard AND g.article_id = c.article_id
WHERE
-- rows, joined by OR
(c.shard = ? AND c.article_id = ?)
