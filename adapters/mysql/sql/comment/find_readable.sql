-- Comments, unless their articles are gone. Uses: primary key of comment, primary key of comment_article_gone.
SELECT c.comment_id, c.article_id, c.parent_id, c.depth, c.deleted, c.created_at, c.path, c.writer_id, c.writer_name,
    c.content, c.content_html, c.version, c.modified_at
FROM comment c FORCE INDEX (PRIMARY)
LEFT JOIN comment_article_gone g ON g.shard = c.shard AND g.article_id = c.article_id
WHERE g.article_id IS NULL AND (
-- rows, joined by OR
(c.shard = ? AND c.comment_id = ?)
-- after the rows
)
