-- Removes a slice of a generation that nobody uses. Uses: primary key of search_doc.
DELETE FROM search_doc
WHERE generation = ?1 AND id IN (SELECT id FROM search_doc WHERE generation = ?1 ORDER BY id LIMIT ?2)
