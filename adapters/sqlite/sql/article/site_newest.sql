-- The newest articles of all boards under a cursor. Uses: primary key of article backwards from the cursor.
SELECT article_id, board_id, created_at
FROM article
WHERE article_id < ?1
ORDER BY article_id DESC
LIMIT ?2
