-- Uses: primary key of hot_score.
UPDATE hot_score FORCE INDEX (PRIMARY)
SET falling_score = ?
WHERE shard = ? AND day = ? AND article_id = ?
