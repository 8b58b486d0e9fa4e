-- Comments in both arrangements, their counts, and the articles whose comments are gone for ever.

-- A root is its own parent. `path` is NULL where comments have two levels. Text and writer are NULL once only the mark of a
-- deleted comment is left. The text comes last.
CREATE TABLE comment (
    comment_id  INTEGER PRIMARY KEY,
    article_id  INTEGER NOT NULL,
    parent_id   INTEGER NOT NULL,
    depth       INTEGER NOT NULL CHECK (depth >= 1),
    deleted     INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    created_at  INTEGER NOT NULL,
    path        TEXT COLLATE BINARY,
    writer_id   INTEGER,
    writer_name TEXT,
    content     TEXT,
    CHECK (deleted = (content IS NULL) AND deleted = (writer_id IS NULL) AND deleted = (writer_name IS NULL))
) STRICT;
-- SQLite ends every index entry with the primary key, so this is (article_id, parent_id, comment_id).
CREATE INDEX comment_by_parent ON comment (article_id, parent_id);
CREATE UNIQUE INDEX comment_by_path ON comment (article_id, path) WHERE path IS NOT NULL;

-- Changes in the transaction of every comment. comment_count are those not deleted, row_count counts the marks too;
-- greatest_id is the greatest comment id the article has ever seen.
CREATE TABLE article_comment_count (
    article_id    INTEGER PRIMARY KEY,
    comment_count INTEGER NOT NULL CHECK (comment_count >= 0),
    row_count     INTEGER NOT NULL CHECK (row_count >= comment_count),
    version       INTEGER NOT NULL,
    greatest_id   INTEGER NOT NULL
) STRICT;

-- Permanent: a late comment or event must not bring anything back.
CREATE TABLE comment_article_gone (
    article_id  INTEGER PRIMARY KEY,
    gone_at     INTEGER NOT NULL
) STRICT;
