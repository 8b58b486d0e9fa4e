-- Boards, articles, their counters and counted blocks, idempotency keys, members and revocations.

CREATE TABLE board (
    board_id     INTEGER PRIMARY KEY,
    slug         TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    comment_mode TEXT    NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX board_slug ON board (slug);

-- Changes in the transaction of every article; greatest_id is the greatest article id the board has ever seen.
CREATE TABLE board_article_count (
    board_id      INTEGER PRIMARY KEY REFERENCES board (board_id),
    article_count INTEGER NOT NULL CHECK (article_count >= 0),
    version       INTEGER NOT NULL,
    greatest_id   INTEGER NOT NULL
) STRICT;

-- Level 1 are blocks, level 2 super-blocks. A block counts the ids from its first one up to the next block's.
CREATE TABLE article_block (
    board_id      INTEGER NOT NULL,
    level         INTEGER NOT NULL CHECK (level IN (1, 2)),
    first_id      INTEGER NOT NULL,
    article_count INTEGER NOT NULL CHECK (article_count >= 0),
    PRIMARY KEY (board_id, level, first_id)
) STRICT, WITHOUT ROWID;

-- The texts come last: a list reads the columns before them and never touches their overflow pages.
CREATE TABLE article (
    article_id   INTEGER PRIMARY KEY,
    board_id     INTEGER NOT NULL,
    writer_id    INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    modified_at  INTEGER NOT NULL,
    writer_name  TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    content      TEXT    NOT NULL,
    content_html TEXT    NOT NULL
) STRICT;
-- SQLite ends every index entry with the primary key, so these are (board_id, article_id) and (writer_id, article_id).
CREATE INDEX article_by_board ON article (board_id);
CREATE INDEX article_by_writer ON article (writer_id);

-- Answers to requests that carried an Idempotency-Key.
CREATE TABLE once_answer (
    member_id   INTEGER NOT NULL,
    scope       TEXT    NOT NULL,
    once_key    TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    answer      BLOB    NOT NULL,
    answered_at INTEGER NOT NULL,
    PRIMARY KEY (member_id, scope, once_key)
) STRICT;
CREATE INDEX once_answer_by_age ON once_answer (answered_at);

CREATE TABLE member (
    member_id     INTEGER PRIMARY KEY,
    name          TEXT    NOT NULL,
    name_key      TEXT    NOT NULL,
    role          TEXT    NOT NULL,
    password_hash TEXT    NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX member_name_key ON member (name_key);
CREATE INDEX member_admin ON member (role) WHERE role = 'admin';

-- What signed tokens do not know. Positions are never reused, so a cursor misses nothing.
CREATE TABLE revocation (
    position   INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id INTEGER,
    expires_at INTEGER,
    member_id  INTEGER,
    role       TEXT,
    CHECK ((session_id IS NULL) <> (member_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX revocation_session ON revocation (session_id) WHERE session_id IS NOT NULL;
CREATE UNIQUE INDEX revocation_member ON revocation (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX revocation_expiry ON revocation (expires_at) WHERE session_id IS NOT NULL;
