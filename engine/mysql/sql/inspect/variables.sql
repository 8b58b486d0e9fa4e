-- How the server is set; no table.
SHOW GLOBAL VARIABLES
