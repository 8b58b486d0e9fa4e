-- The greatest path between each path and the end of its descendants, one step backwards, with the number of who asked.
-- Uses: comment_by_path (covering).
-- rows, joined by UNION ALL
(SELECT CAST(? AS UNSIGNED) AS asked, path
 FROM comment FORCE INDEX (comment_by_path)
 WHERE article_id = ? AND path > ? AND path < ?
 ORDER BY path DESC
 LIMIT 1)
