-- The rest of a group of two levels; what follows the group is a statement of its own, since a pair compared with a pair
-- would be looked up by the parent alone. Uses: comment_by_parent from the cursor on.
SELECT comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content,
    content_html, version, modified_at
FROM comment FORCE INDEX (comment_by_parent)
WHERE article_id = ? AND parent_id = ? AND comment_id > ?
ORDER BY comment_id
LIMIT ?
