-- Changes nothing where somebody has these looks. Uses: primary key of member.
UPDATE IGNORE member
SET skeleton = ?
WHERE shard = 0 AND member_id = ? AND skeleton IS NULL
