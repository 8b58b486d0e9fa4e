-- When a lease ends. Uses: primary key of node_lease.
SELECT until_ms
FROM node_lease
WHERE shard = 0 AND node = ?
