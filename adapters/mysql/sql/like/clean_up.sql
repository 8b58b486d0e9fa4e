-- A slice of an article's likes. Uses: primary key of article_like.
DELETE FROM article_like
WHERE shard = ? AND article_id = ?
ORDER BY member_id
LIMIT ?
