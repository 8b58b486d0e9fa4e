-- The triggers of a database; by the database's name. By the tables' database, or the server would look through all of them.
SELECT TRIGGER_NAME
FROM information_schema.TRIGGERS
WHERE EVENT_OBJECT_SCHEMA = ?
