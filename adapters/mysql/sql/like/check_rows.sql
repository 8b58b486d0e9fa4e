-- The likes of a range of a shard's articles, counted. Uses: primary key of article_like.
SELECT article_id, COUNT(*)
FROM article_like FORCE INDEX (PRIMARY)
WHERE shard = ? AND article_id > ? AND article_id <= ?
GROUP BY article_id
