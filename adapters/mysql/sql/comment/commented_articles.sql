-- Articles that have a comment, from the cursor on: without a counter they are gone and not yet cleaned up.
-- Uses: comment_by_parent (covering).
SELECT DISTINCT article_id
FROM comment FORCE INDEX (comment_by_parent)
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
