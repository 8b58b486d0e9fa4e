-- Documents, and marks of those that are gone. Uses: primary key of search_doc.
SELECT count(*) FILTER (WHERE gone_at IS NULL), count(*) FILTER (WHERE gone_at IS NOT NULL)
FROM search_doc
WHERE generation = ?1
