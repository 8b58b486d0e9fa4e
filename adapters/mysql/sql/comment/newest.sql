-- The newest visible comments of each article. Uses: comment_visible backwards from its end.
-- rows, joined by UNION ALL
(SELECT article_id, comment_id, created_at, writer_id, writer_name
 FROM comment FORCE INDEX (comment_visible)
 WHERE article_id = ? AND deleted = 0
 ORDER BY comment_id DESC
 LIMIT ?)
