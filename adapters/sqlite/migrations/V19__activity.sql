-- Which discussions are active: beside the count of an article's comments stand its board and its newest visible comment, in the
-- transaction of every comment. noted_version is the version of the count that the note belongs to: a row of another version
-- was written by a version that did not note, and its newest comment is looked for.
ALTER TABLE article_comment_count ADD COLUMN board_id INTEGER;
ALTER TABLE article_comment_count ADD COLUMN noted_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE article_comment_count ADD COLUMN last_comment_id INTEGER;
ALTER TABLE article_comment_count ADD COLUMN last_at INTEGER;
ALTER TABLE article_comment_count ADD COLUMN last_writer_id INTEGER;
ALTER TABLE article_comment_count ADD COLUMN last_writer_name TEXT;
-- SQLite ends every index entry with the primary key, which orders what is of one moment.
CREATE INDEX article_comment_count_by_activity ON article_comment_count (last_at) WHERE last_at IS NOT NULL;
CREATE INDEX article_comment_count_on_board ON article_comment_count (board_id, last_at) WHERE last_at IS NOT NULL;
CREATE INDEX comment_visible ON comment (article_id) WHERE deleted = 0;
