-- Uses: primary key of copy_progress.
INSERT INTO copy_progress (shard, table_name, last_key, rows_copied)
VALUES (0, ?, ?, ?)
ON DUPLICATE KEY UPDATE last_key = VALUES(last_key), rows_copied = VALUES(rows_copied)
