-- A later end for a lease that is still as its holder knows it, by primary key.
UPDATE node_lease SET until_ms = ?4 WHERE node = ?1 AND from_ms = ?2 AND until_ms = ?3
