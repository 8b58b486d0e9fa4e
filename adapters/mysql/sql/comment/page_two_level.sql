-- The offset is skipped in the index alone, then only the rows of the page are read. Uses: comment_by_parent (covering)
-- for the ids, primary key of comment for the rows.
SELECT c.comment_id, c.article_id, c.parent_id, c.depth, c.deleted, c.created_at, c.path, c.writer_id, c.writer_name,
    c.content, c.content_html, c.version, c.modified_at
FROM (
    SELECT shard, comment_id
    FROM comment FORCE INDEX (comment_by_parent)
    WHERE article_id = ?
    ORDER BY parent_id, comment_id
    LIMIT ? OFFSET ?
) page
STRAIGHT_JOIN comment c FORCE INDEX (PRIMARY) ON c.shard = page.shard AND c.comment_id = page.comment_id
