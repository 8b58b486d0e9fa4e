-- Whether a row that was inserted up to a moment is left. The oldest of a shard come first, so one is found soon where there
-- is one; where there is none, a whole scan of what waits. Asked at the end of a day, a few times.
SELECT row_id
FROM outbox
WHERE inserted_at <= ?
LIMIT 1
