-- What is known of a node number, by primary key.
SELECT from_ms, until_ms FROM node_lease WHERE node = ?1
