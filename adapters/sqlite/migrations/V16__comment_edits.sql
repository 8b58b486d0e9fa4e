-- A comment can be corrected: how often it changed, and when its text last did. NULL in rows that are older, and in those
-- that a process of the version before writes: such a comment never changed, other than by becoming a mark.
ALTER TABLE comment ADD COLUMN version INTEGER;
ALTER TABLE comment ADD COLUMN modified_at INTEGER;
