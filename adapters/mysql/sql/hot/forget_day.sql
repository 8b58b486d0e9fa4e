-- Uses: primary key of hot_day.
DELETE FROM hot_day
WHERE shard = ? AND day = ?
