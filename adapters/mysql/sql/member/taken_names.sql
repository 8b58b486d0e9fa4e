-- Of some names those that are taken. Uses: member_name_key (covering).
SELECT name_key
FROM member FORCE INDEX (member_name_key)
WHERE shard = 0 AND name_key IN (
-- rows, joined by ,
?
-- after the rows
)
