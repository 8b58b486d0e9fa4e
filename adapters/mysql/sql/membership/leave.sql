-- Uses: primary key of instance.
DELETE FROM instance
WHERE shard = 0 AND service = ? AND instance = ?
