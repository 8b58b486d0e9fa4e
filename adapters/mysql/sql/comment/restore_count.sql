-- Counts the comments that are left of an article whose mark goes; its counter is locked and so there. Uses: primary key of
-- article_comment_count, primary key of comment_article_gone, comment_by_parent.
UPDATE article_comment_count c FORCE INDEX (PRIMARY)
JOIN comment_article_gone g ON g.shard = c.shard AND g.article_id = c.article_id
JOIN (
    SELECT COALESCE(SUM(deleted = 0), 0) AS visible, COUNT(*) AS rows_left, COALESCE(MAX(comment_id), 0) AS greatest
    FROM comment FORCE INDEX (comment_by_parent)
    WHERE article_id = ?
) found
SET c.comment_count = found.visible, c.row_count = found.rows_left,
    c.version = GREATEST(c.version, g.version, found.rows_left) + 1, c.greatest_id = GREATEST(c.greatest_id, found.greatest),
    c.locked = g.locked
WHERE c.shard = ? AND c.article_id = ?
