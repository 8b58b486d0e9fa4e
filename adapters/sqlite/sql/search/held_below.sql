-- Documents that can be found, newest first. Uses: primary key of search_doc.
SELECT kind, id, version
FROM search_doc
WHERE generation = ?1 AND id < ?2 AND gone_at IS NULL
ORDER BY id DESC
LIMIT ?3
