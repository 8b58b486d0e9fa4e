-- Uses: primary key of hot_day.
SELECT finalised_at IS NOT NULL
FROM hot_day
WHERE shard = ? AND day = ?
