-- The next slice to be moved. Uses: primary key of article_like.
SELECT article_id, member_id, member_name, created_at
FROM article_like
WHERE (article_id, member_id) > (?, ?)
ORDER BY article_id, member_id
LIMIT ?
