-- Forgets a slice of the oldest marks. Uses: search_doc_gone.
DELETE FROM search_doc
WHERE generation = ?1 AND id IN (
    SELECT id FROM search_doc INDEXED BY search_doc_gone WHERE generation = ?1 AND gone_at < ?2 LIMIT ?3
)
