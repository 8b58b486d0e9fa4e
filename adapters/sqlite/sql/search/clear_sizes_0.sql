-- The same of the sizes of its documents. Uses: primary key of search_text_0_docsize.
DELETE FROM search_text_0_docsize WHERE id IN (SELECT id FROM search_text_0_docsize ORDER BY id LIMIT ?1)
