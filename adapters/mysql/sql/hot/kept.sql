-- A final list in its order, without what is removed for now. Uses: primary key of hot_final,
-- primary key of hot_score.
SELECT article_id, score, like_count, comment_count, view_count
FROM hot_final f FORCE INDEX (PRIMARY)
WHERE shard = ? AND day = ?
    AND NOT EXISTS (
        SELECT 1 FROM hot_score s FORCE INDEX (PRIMARY)
        WHERE s.shard = f.shard AND s.day = f.day AND s.article_id = f.article_id AND s.hidden = 1)
ORDER BY place
