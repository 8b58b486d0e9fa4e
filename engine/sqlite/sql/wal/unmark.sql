-- Removes that row, by primary key.
DELETE FROM node_lease WHERE node = -1
