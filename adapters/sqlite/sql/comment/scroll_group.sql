-- The rest of a group of two levels. SQLite would look for (parent, comment) > (?, ?) by the parent alone and read a large
-- group from its beginning at each step, so what follows the group is a statement of its own.
-- Uses: comment_by_parent from the cursor, then primary key of comment.
SELECT comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content,
    content_html, version, modified_at
FROM comment
WHERE article_id = ?1 AND parent_id = ?2 AND comment_id > ?3
ORDER BY comment_id
LIMIT ?4
