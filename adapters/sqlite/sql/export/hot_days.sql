-- The next slice to be moved. Uses: primary key of hot_day.
SELECT day, finalised_at
FROM hot_day
WHERE day > ?
ORDER BY day
LIMIT ?
