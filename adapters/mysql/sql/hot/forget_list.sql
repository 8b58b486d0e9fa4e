-- Uses: primary key of hot_final.
DELETE FROM hot_final
WHERE shard = ? AND day = ?
ORDER BY shard, day, place
LIMIT ?
