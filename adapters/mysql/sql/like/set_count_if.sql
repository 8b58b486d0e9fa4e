-- A count that was computed from a version, unless there is a newer one. Uses: primary key of article_like_count.
UPDATE article_like_count FORCE INDEX (PRIMARY)
SET like_count = ?, version = version + 1
WHERE shard = ? AND article_id = ? AND version = ?
