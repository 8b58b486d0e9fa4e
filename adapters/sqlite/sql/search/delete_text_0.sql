-- Takes the tokens of a document away. Uses: the full-text index, by rowid.
DELETE FROM search_text_0 WHERE rowid = ?1
