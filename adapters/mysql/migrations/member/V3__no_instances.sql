-- Which instances live is told by Redis; nobody has written here.
DROP TABLE IF EXISTS instance;
