-- Unsent rows of a shard that are old enough and whose key is not parked, oldest first: by index outbox_shard, which
-- ends in the row id, and the primary key of the parked keys.
SELECT row_id, event_id, topic, key, shard, occurred_at, headers, payload, attempts + 1
FROM outbox INDEXED BY outbox_shard
WHERE shard = ?1
  AND inserted_at <= ?2
  AND NOT EXISTS (SELECT 1 FROM outbox_parked_key AS parked WHERE parked.key = outbox.key AND parked.until_ms > ?3)
ORDER BY row_id
LIMIT ?4
