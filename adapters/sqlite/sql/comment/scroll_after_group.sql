-- The groups of two levels after one. Uses: comment_by_parent from the cursor, then primary key of comment.
SELECT comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content,
    content_html, version, modified_at
FROM comment
WHERE article_id = ?1 AND parent_id > ?2
ORDER BY parent_id, comment_id
LIMIT ?3
