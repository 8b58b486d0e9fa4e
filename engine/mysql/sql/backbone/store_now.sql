-- The time by which ages are told: the one given, else the server's. Uses: no table.
SELECT COALESCE(?, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED))
