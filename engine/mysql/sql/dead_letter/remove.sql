-- Uses: primary key of dead_letter.
DELETE FROM dead_letter
WHERE shard = ? AND event_id = ?
