-- Keys that are dealt with. Uses: primary key of shard_change.
DELETE c FROM shard_change c FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(c.shard = ? AND c.change_id = ?)
