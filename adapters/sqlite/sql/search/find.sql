-- What is known of a document. Uses: primary key of search_doc.
SELECT version, gone_at IS NOT NULL FROM search_doc WHERE generation = ?1 AND id = ?2
