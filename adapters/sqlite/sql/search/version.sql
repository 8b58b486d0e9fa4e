-- The version of a document that can be found. Uses: primary key of search_doc.
SELECT version FROM search_doc WHERE generation = ?1 AND id = ?2 AND gone_at IS NULL
