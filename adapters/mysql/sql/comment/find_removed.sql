-- Uses: primary key of comment_removed.
SELECT comment_id, article_id, writer_id, writer_name, content, removed_at, moderator_id, moderator_name, reason
FROM comment_removed FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND comment_id = ?)
