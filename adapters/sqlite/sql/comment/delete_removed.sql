-- Uses: primary key of comment_removed.
DELETE FROM comment_removed
WHERE comment_id = ?1
