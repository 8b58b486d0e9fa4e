-- Of some looks those that are taken. Uses: member_skeleton (covering).
SELECT skeleton
FROM member FORCE INDEX (member_skeleton)
WHERE shard = 0 AND skeleton IN (
-- rows, joined by ,
?
-- after the rows
)
