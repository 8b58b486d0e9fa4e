-- Uses: comment_by_writer backwards from the cursor, then primary key of comment and of comment_article_gone.
SELECT comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content,
    content_html, version, modified_at
FROM comment
WHERE writer_id = ?1 AND comment_id < ?2
    AND NOT EXISTS (SELECT 1 FROM comment_article_gone WHERE comment_article_gone.article_id = comment.article_id)
ORDER BY comment_id DESC
LIMIT ?3
