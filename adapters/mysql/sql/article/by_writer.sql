-- The articles of one writer on one server under a cursor. Uses: article_by_writer backwards from the cursor.
SELECT article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title
FROM article FORCE INDEX (article_by_writer)
WHERE writer_id = ? AND article_id < ?
ORDER BY article_id DESC
LIMIT ?
