-- An instance leaves, by primary key.
DELETE FROM instance WHERE service = ?1 AND instance = ?2
