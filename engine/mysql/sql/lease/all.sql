-- Every number and when its last lease ends. Uses: primary key of node_lease.
SELECT node, until_ms
FROM node_lease FORCE INDEX (PRIMARY)
WHERE shard = 0 AND node < 256
ORDER BY node
FOR UPDATE
