-- Keys of some shards whose time has come; as few as there are keys in trouble. Uses: primary key of outbox_parked_key.
DELETE FROM outbox_parked_key
WHERE until_ms <= ? AND shard IN (
-- rows, joined by ,
?
-- after the rows
)
