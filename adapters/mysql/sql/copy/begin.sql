-- Uses: primary key of site_copy.
INSERT INTO site_copy (shard, site, state, began_at, finished_at)
VALUES (0, ?, ?, ?, NULL)
