-- The last position of everything that is numbered for ever: tells whether anything was added. One row per AUTOINCREMENT.
SELECT name, seq
FROM sqlite_sequence
ORDER BY rowid
