-- Uses: primary key of article_like, from the cursor on.
SELECT member_id, member_name, created_at
FROM article_like
WHERE article_id = ?1 AND member_id > ?2
ORDER BY member_id
LIMIT ?3
