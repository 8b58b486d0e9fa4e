-- Uses: article_by_writer backwards from the cursor, then primary key of article.
SELECT article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title
FROM article
WHERE writer_id = ?1 AND article_id < ?2
ORDER BY article_id DESC
LIMIT ?3
