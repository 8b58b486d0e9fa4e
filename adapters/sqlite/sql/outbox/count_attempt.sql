-- One attempt more, by primary key.
UPDATE outbox SET attempts = attempts + 1 WHERE row_id = ?1
