-- Writes the row as it is, by primary key: shows whether the disk takes a write.
UPDATE node_lease SET until_ms = until_ms WHERE node = ?1
