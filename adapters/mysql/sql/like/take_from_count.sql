-- Uses: primary key of article_like_count.
UPDATE article_like_count
SET like_count = like_count - ?, version = version + 1
WHERE shard = ? AND article_id = ?
