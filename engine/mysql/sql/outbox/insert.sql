-- Messages to publish, in the transaction of their change. Uses: primary key of outbox.
INSERT INTO outbox (shard, event_id, topic, message_key, occurred_at, headers, payload, inserted_at)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, COALESCE(?, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)))
