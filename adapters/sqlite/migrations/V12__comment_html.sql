-- A comment is rendered when it is written, as an article is. NULL in rows that are older, which are rendered when they are
-- read, and where only the mark of a deleted comment is left.
ALTER TABLE comment ADD COLUMN content_html TEXT;
