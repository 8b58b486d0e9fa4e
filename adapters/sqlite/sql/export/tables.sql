-- Every table of the schema, but for the engine's own. Reads the schema.
SELECT name
FROM sqlite_schema
WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY rowid
