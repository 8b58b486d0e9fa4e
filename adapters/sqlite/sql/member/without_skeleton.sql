-- A slice of the members from before skeletons were kept. Uses: unique index member_skeleton.
SELECT member_id, name
FROM member
WHERE skeleton IS NULL
ORDER BY member_id
LIMIT ?1
