-- The last batch that a lane committed. Waits for one that is still on its way. Uses: primary key of lane_batch.
SELECT number
FROM lane_batch
WHERE lane_id = ?
FOR UPDATE
