-- Changes nothing where another process was faster. Uses: primary key of member.
UPDATE member FORCE INDEX (PRIMARY)
SET skeleton = ?
WHERE shard = 0 AND member_id = ? AND skeleton IS NULL
