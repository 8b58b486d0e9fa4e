-- One letter less, by primary key.
DELETE FROM dead_letter WHERE letter_id = ?1
