-- One slice. Uses: comment_by_parent (covering) to choose, primary key of comment to delete.
DELETE FROM comment
WHERE comment_id IN (SELECT comment_id FROM comment WHERE article_id = ?1 LIMIT ?2)
