-- Uses: primary key of article_like_count.
UPDATE article_like_count FORCE INDEX (PRIMARY)
SET like_count = like_count - ?, version = version + 1
WHERE shard = ? AND article_id = ?
