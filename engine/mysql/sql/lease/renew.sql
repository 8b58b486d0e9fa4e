-- A later end for a lease that is still its holder's: no two leases of a number begin at one time. Uses: primary key of
-- node_lease.
UPDATE node_lease
SET until_ms = GREATEST(until_ms, ?)
WHERE shard = 0 AND node = ? AND from_ms = ? AND until_ms >= ?
