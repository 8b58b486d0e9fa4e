-- Takes this member for the primary, which begins a term unless it is the primary already. Uses: primary key of topology.
UPDATE topology
SET term = term + 1, primary_id = ?
WHERE id = 1 AND primary_id <> ?
