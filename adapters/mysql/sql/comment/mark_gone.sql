-- Marks with the version and the lock of the counter, which is locked and so there. Uses: primary key of article_comment_count.
INSERT INTO comment_article_gone (shard, article_id, version, locked)
SELECT c.shard, c.article_id, c.version, c.locked
FROM article_comment_count c FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(c.shard = ? AND c.article_id = ?)
-- after the rows
ON DUPLICATE KEY UPDATE comment_article_gone.shard = VALUES(shard)
