-- The server's time in Unix milliseconds. Uses: no table.
SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)
