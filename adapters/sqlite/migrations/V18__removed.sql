-- What moderators removed, for as long as it can be restored; no count includes it.
CREATE TABLE article_removed (
    article_id     INTEGER PRIMARY KEY,
    board_id       INTEGER NOT NULL,
    writer_id      INTEGER NOT NULL,
    version        INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    modified_at    INTEGER NOT NULL,
    writer_name    TEXT    NOT NULL,
    title          TEXT    NOT NULL,
    content        TEXT    NOT NULL,
    content_html   TEXT    NOT NULL,
    removed_at     INTEGER NOT NULL,
    moderator_id   INTEGER NOT NULL,
    moderator_name TEXT    NOT NULL,
    reason         TEXT    NOT NULL
) STRICT;
CREATE INDEX article_removed_by_time ON article_removed (removed_at);

-- Of a comment, what its mark does not tell.
CREATE TABLE comment_removed (
    comment_id     INTEGER PRIMARY KEY,
    article_id     INTEGER NOT NULL,
    writer_id      INTEGER NOT NULL,
    writer_name    TEXT    NOT NULL,
    content        TEXT    NOT NULL,
    removed_at     INTEGER NOT NULL,
    moderator_id   INTEGER NOT NULL,
    moderator_name TEXT    NOT NULL,
    reason         TEXT    NOT NULL
) STRICT;
CREATE INDEX comment_removed_by_time ON comment_removed (removed_at);
CREATE INDEX comment_removed_by_article ON comment_removed (article_id);

-- 1 while the article is removed and may be restored, at the article's version: its counts are kept and score nothing.
ALTER TABLE hot_score ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1));
ALTER TABLE hot_score ADD COLUMN hidden_version INTEGER NOT NULL DEFAULT 0;
