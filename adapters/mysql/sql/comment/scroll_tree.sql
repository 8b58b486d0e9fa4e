-- The path of the cursor is included: when its comment was deleted, another one may have it, and has not been shown.
-- Uses: comment_by_path from the cursor on.
SELECT comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content,
    content_html, version, modified_at
FROM comment FORCE INDEX (comment_by_path)
WHERE article_id = ? AND path >= ? AND comment_id <> ?
ORDER BY path
LIMIT ?
