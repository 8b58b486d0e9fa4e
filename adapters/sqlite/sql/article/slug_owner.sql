-- Uses: board_slug.
SELECT board_id
FROM board
WHERE slug = ?1
