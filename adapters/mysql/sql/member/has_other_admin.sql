-- Whether the site has an administrator besides this one. Uses: member_role (covering).
SELECT 1
FROM member FORCE INDEX (member_role)
WHERE shard = 0 AND role = 'admin' AND member_id <> ?
LIMIT 1
