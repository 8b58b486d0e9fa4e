-- How many node numbers are held. Uses: primary key of node_lease.
SELECT COUNT(*)
FROM node_lease FORCE INDEX (PRIMARY)
WHERE shard = 0 AND node < 256 AND until_ms > ?
