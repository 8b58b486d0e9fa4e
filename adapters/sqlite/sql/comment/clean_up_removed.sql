-- One slice. Uses: comment_removed_by_article (covering) to choose, primary key of comment_removed to delete.
DELETE FROM comment_removed
WHERE comment_id IN (SELECT comment_id FROM comment_removed WHERE article_id = ?1 LIMIT ?2)
