-- A slice of an article's likes. Uses: primary key of article_like.
DELETE FROM article_like
WHERE shard = ? AND article_id = ?
ORDER BY shard, article_id, member_id
LIMIT ?
