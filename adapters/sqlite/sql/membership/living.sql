-- The living instances of a service in order, by the front of the primary key.
SELECT instance FROM instance WHERE service = ?1 AND beat_at >= ?2 ORDER BY instance
