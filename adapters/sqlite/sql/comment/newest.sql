-- The newest visible comments of an article. Uses: comment_visible backwards from its end.
SELECT comment_id, created_at, writer_id, writer_name
FROM comment
WHERE article_id = ?1 AND deleted = 0
ORDER BY comment_id DESC
LIMIT ?2
