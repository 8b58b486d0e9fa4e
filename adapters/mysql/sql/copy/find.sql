-- The site that was or is being copied here. Uses: primary key of site_copy.
SELECT site, state, finished_at
FROM site_copy
WHERE shard = 0
