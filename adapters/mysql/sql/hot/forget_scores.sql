-- A slice of a day's scores. Uses: primary key of hot_score.
DELETE FROM hot_score
WHERE shard = ? AND day = ?
ORDER BY shard, day, article_id
LIMIT ?
