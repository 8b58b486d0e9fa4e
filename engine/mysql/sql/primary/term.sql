-- Who was last taken for the primary, and how often that has changed. Uses: primary key of topology.
SELECT term, primary_id
FROM topology
WHERE id = 1
