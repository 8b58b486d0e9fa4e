-- The groups of two levels after one. Uses: comment_by_parent from the cursor on.
SELECT comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content,
    content_html, version, modified_at
FROM comment FORCE INDEX (comment_by_parent)
WHERE article_id = ? AND parent_id > ?
ORDER BY parent_id, comment_id
LIMIT ?
