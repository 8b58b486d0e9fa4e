-- An instance is alive, by primary key.
INSERT INTO instance (service, instance, beat_at) VALUES (?1, ?2, ?3)
ON CONFLICT (service, instance) DO UPDATE SET beat_at = excluded.beat_at
