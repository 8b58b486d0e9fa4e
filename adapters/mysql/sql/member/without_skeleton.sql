-- A slice of the members from before skeletons were kept, in the order of the index, which ends with their ids. Uses:
-- member_skeleton.
SELECT member_id, name
FROM member FORCE INDEX (member_skeleton)
WHERE shard = 0 AND skeleton IS NULL
LIMIT ?
