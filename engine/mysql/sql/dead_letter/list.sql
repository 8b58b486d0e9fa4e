-- Letters of some shards after a place. Uses: primary key of dead_letter.
SELECT shard, event_id, topic, message_key, occurred_at, headers, payload, died_at
FROM dead_letter FORCE INDEX (PRIMARY)
WHERE (shard > ? OR (shard = ? AND event_id > ?)) AND shard IN (
-- rows, joined by ,
?
-- after the rows
)
ORDER BY shard, event_id
LIMIT ?
