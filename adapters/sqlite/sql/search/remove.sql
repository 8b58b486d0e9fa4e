-- Uses: primary key of search_doc.
DELETE FROM search_doc WHERE generation = ?1 AND id = ?2
