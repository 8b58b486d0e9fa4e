-- Who likes an article, from the cursor on. Uses: primary key of article_like.
SELECT member_id, member_name, created_at
FROM article_like FORCE INDEX (PRIMARY)
WHERE shard = ? AND article_id = ? AND member_id > ?
ORDER BY member_id
LIMIT ?
