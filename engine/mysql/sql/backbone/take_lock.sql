-- One process migrates at a time. Uses: no table.
SELECT GET_LOCK(?, ?)
