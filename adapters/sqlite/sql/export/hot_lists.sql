-- The next slice to be moved. Uses: primary key of hot_final.
SELECT day, place, article_id, score, like_count, comment_count, view_count
FROM hot_final
WHERE (day, place) > (?, ?)
ORDER BY day, place
LIMIT ?
