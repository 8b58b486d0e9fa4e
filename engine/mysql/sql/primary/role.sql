-- Whether a member takes writes, and its number in replication. Uses: no table.
SELECT @@global.read_only, @@server_id
