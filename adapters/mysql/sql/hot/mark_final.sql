-- Uses: primary key of hot_day.
UPDATE hot_day
SET finalised_at = ?
WHERE shard = ? AND day = ?
