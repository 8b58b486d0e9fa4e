-- The last batch that each of these lanes committed here. Uses: primary key of lane_batch.
SELECT lane_id, number
FROM lane_batch FORCE INDEX (PRIMARY)
WHERE lane_id IN (
-- rows, joined by ,
?
-- after the rows
)
