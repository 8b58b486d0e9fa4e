-- Uses: primary key of comment.
DELETE FROM comment
WHERE comment_id = ?1
