-- The first replies to a comment; a root is its own parent. Uses: comment_by_parent (covering).
SELECT comment_id
FROM comment
WHERE article_id = ?1 AND parent_id = ?2 AND comment_id <> ?2
LIMIT ?3
