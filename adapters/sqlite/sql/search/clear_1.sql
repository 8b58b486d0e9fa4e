-- Makes the full-text index of a generation as good as new. Uses: all that is left of it.
INSERT INTO search_text_1 (search_text_1) VALUES ('delete-all')
