-- A slice of the members from before skeletons were kept. Uses: member_skeleton.
SELECT member_id, name
FROM member FORCE INDEX (member_skeleton)
WHERE shard = 0 AND skeleton IS NULL
ORDER BY member_id
LIMIT ?
