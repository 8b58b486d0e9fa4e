-- Gives back what a holder did not use, by primary key.
UPDATE node_lease SET from_ms = ?4, until_ms = ?4 WHERE node = ?1 AND from_ms = ?2 AND until_ms = ?3
