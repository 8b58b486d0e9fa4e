-- A final list in its order. Uses: primary key of hot_final.
SELECT article_id, score, like_count, comment_count, view_count
FROM hot_final FORCE INDEX (PRIMARY)
WHERE shard = ? AND day = ?
ORDER BY place
