-- The comments of one writer on one server under a cursor, without those of articles that are gone.
-- Uses: comment_by_writer backwards from the cursor, primary key of comment_article_gone.
SELECT comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content,
    content_html, version, modified_at
FROM comment FORCE INDEX (comment_by_writer)
WHERE writer_id = ? AND comment_id < ?
    AND NOT EXISTS (
        SELECT 1 FROM comment_article_gone
        WHERE comment_article_gone.shard = comment.shard AND comment_article_gone.article_id = comment.article_id)
ORDER BY comment_id DESC
LIMIT ?
