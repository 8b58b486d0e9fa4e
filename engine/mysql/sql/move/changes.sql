-- The next keys that changed. Uses: primary key of shard_change.
SELECT change_id, table_name, row_key
FROM shard_change FORCE INDEX (PRIMARY)
WHERE shard = ? AND change_id > ?
ORDER BY change_id
LIMIT ?
