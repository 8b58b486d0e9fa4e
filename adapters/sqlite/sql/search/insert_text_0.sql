-- Adds the tokens of a document. Uses: the full-text index.
INSERT INTO search_text_0 (rowid, title, body) VALUES (?1, ?2, ?3)
