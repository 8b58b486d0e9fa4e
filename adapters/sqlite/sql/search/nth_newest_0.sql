-- The id of the hit after so many newer ones. Uses: the full-text index, whose rows are in that order.
SELECT rowid
FROM search_text_0
WHERE search_text_0 MATCH ?1
ORDER BY rowid DESC
LIMIT 1 OFFSET ?2
