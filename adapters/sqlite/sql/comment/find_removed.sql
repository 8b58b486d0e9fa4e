-- Uses: primary key of comment_removed.
SELECT comment_id, article_id, writer_id, writer_name, content, removed_at, moderator_id, moderator_name, reason
FROM comment_removed
WHERE comment_id = ?1
