-- Uses: primary key of site_copy.
UPDATE site_copy
SET finished_at = ?
WHERE shard = 0
