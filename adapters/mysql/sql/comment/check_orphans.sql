-- Replies of a range of articles whose parent is not there. Uses: comment_by_parent (covering), primary key of comment.
SELECT r.article_id, r.comment_id
FROM comment r FORCE INDEX (comment_by_parent)
LEFT JOIN comment p FORCE INDEX (PRIMARY)
    ON p.shard = r.shard AND p.comment_id = r.parent_id AND p.article_id = r.article_id
WHERE r.article_id > ? AND r.article_id <= ? AND p.comment_id IS NULL
LIMIT ?
