-- The tables of a database and about how many rows each has; by the database's name.
SELECT TABLE_NAME, COALESCE(TABLE_ROWS, 0) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?
