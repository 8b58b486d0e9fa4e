-- The last position ever given; stays when entries are trimmed. A table of a handful of rows, one per AUTOINCREMENT.
SELECT seq FROM sqlite_sequence WHERE name = 'event_log'
