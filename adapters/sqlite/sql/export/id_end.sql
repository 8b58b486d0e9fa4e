-- No id of this site carries this time or a later one. Reads a row for each node number, which is one.
SELECT coalesce(max(until_ms), 0)
FROM node_lease
