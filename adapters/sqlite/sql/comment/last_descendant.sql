-- The greatest path between a path and the end of its descendants: one step backwards.
-- Uses: comment_by_path (covering).
SELECT path
FROM comment
WHERE article_id = ?1 AND path > ?2 AND path < ?3
ORDER BY path DESC
LIMIT 1
