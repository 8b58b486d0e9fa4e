-- Begins a term with this member as the primary. Uses: primary key of topology.
UPDATE topology
SET term = term + 1, primary_id = ?
WHERE id = 1
