-- How far each table is. Uses: primary key of copy_progress.
SELECT table_name, last_key, rows_copied
FROM copy_progress
WHERE shard = 0
