-- The path of the cursor is included: when its comment was deleted, another one may have it, and has not been shown.
-- Uses: comment_by_path from the cursor, then primary key of comment.
SELECT comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content,
    content_html, version, modified_at
FROM comment
WHERE article_id = ?1 AND path >= ?2 AND comment_id <> ?3
ORDER BY path
LIMIT ?4
