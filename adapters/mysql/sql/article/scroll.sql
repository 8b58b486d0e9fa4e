-- The next articles under a cursor, with the same hint as a page. Uses: article_by_board backwards from the cursor.
SELECT article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title
FROM article FORCE INDEX (article_by_board)
WHERE board_id = ? AND article_id < ?
ORDER BY article_id DESC
LIMIT ?
