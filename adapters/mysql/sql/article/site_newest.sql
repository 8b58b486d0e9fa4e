-- The newest articles of all boards on one server under a cursor. Uses: article_by_id backwards from the cursor.
SELECT article_id, board_id, created_at
FROM article FORCE INDEX (article_by_id)
WHERE article_id < ?
ORDER BY article_id DESC
LIMIT ?
