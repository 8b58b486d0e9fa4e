-- Removes a slice of the pages of a generation that nobody uses. Uses: primary key of search_text_0_data.
DELETE FROM search_text_0_data WHERE id IN (SELECT id FROM search_text_0_data ORDER BY id LIMIT ?1)
