-- The columns of every table of a database; by the database's name, twice. Named on both sides: by the join alone the server would
-- look through the tables of all its databases.
SELECT c.TABLE_NAME, t.ENGINE, c.COLUMN_NAME, c.COLUMN_TYPE, c.ORDINAL_POSITION
FROM information_schema.COLUMNS c
JOIN information_schema.TABLES t ON t.TABLE_NAME = c.TABLE_NAME
WHERE c.TABLE_SCHEMA = ? AND t.TABLE_SCHEMA = ? AND t.TABLE_TYPE = 'BASE TABLE'
