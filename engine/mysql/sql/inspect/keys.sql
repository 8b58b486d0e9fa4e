-- The columns of every primary key of a database; by the database's name.
SELECT TABLE_NAME, COLUMN_NAME, SEQ_IN_INDEX
FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = ? AND INDEX_NAME = 'PRIMARY'
