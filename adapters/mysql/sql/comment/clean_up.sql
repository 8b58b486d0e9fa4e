-- A slice of an article's comments. Uses: comment_by_parent.
DELETE FROM comment
WHERE article_id = ?
ORDER BY article_id, parent_id, comment_id
LIMIT ?
