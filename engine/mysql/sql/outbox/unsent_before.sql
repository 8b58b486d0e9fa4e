-- Whether a row of some shards that was inserted up to a moment is left. The oldest of a shard come first, so one is found soon
-- where there is one; where there is none, a whole scan of what waits. Asked at the end of a day, a few times. Uses: primary key
-- of outbox.
SELECT row_id
FROM outbox FORCE INDEX (PRIMARY)
WHERE inserted_at <= ? AND shard IN (
-- rows, joined by ,
?
-- after the rows
)
LIMIT 1
