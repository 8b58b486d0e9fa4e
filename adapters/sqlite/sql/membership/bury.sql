-- Forgets the instances of a service that have been silent, by the front of the primary key.
DELETE FROM instance WHERE service = ?1 AND beat_at < ?2
