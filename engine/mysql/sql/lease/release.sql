-- Gives back what a holder did not use. Uses: primary key of node_lease.
UPDATE node_lease
SET from_ms = ?, until_ms = ?
WHERE shard = 0 AND node = ? AND from_ms = ? AND until_ms >= ?
