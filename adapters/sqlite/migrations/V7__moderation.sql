-- How members stand, who wrote which comments, what was reported, and what moderators did.

-- As JSON; NULL until something about the member changes that their tokens do not know.
ALTER TABLE member ADD COLUMN standing TEXT;
-- The same beside the role, in a member's row.
ALTER TABLE revocation ADD COLUMN standing TEXT;

-- SQLite ends every index entry with the primary key, so this is (writer_id, comment_id). Marks are nobody's.
CREATE INDEX comment_by_writer ON comment (writer_id) WHERE writer_id IS NOT NULL;

-- Each row commits with what it tells of. `subject` is an article, a comment, a member or a report, as the kind says.
CREATE TABLE moderation_act (
    act_id         INTEGER PRIMARY KEY,
    kind           TEXT    NOT NULL,
    moderator_id   INTEGER NOT NULL,
    moderator_name TEXT    NOT NULL,
    subject        INTEGER NOT NULL,
    board_id       INTEGER,
    acted_at       INTEGER NOT NULL,
    detail         TEXT    NOT NULL,
    reason         TEXT    NOT NULL
) STRICT;
-- With the primary key behind it: (board_id, act_id).
CREATE INDEX moderation_act_on_board ON moderation_act (board_id) WHERE board_id IS NOT NULL;
CREATE TRIGGER moderation_act_is_not_changed BEFORE UPDATE ON moderation_act
BEGIN
    SELECT RAISE(ABORT, 'the log of moderation is not changed');
END;
CREATE TRIGGER moderation_act_is_not_removed BEFORE DELETE ON moderation_act
BEGIN
    SELECT RAISE(ABORT, 'nothing is removed from the log of moderation');
END;

-- `subject` is the article or the comment that is reported, as the kind says.
CREATE TABLE report (
    report_id     INTEGER PRIMARY KEY,
    kind          TEXT    NOT NULL CHECK (kind IN ('article', 'comment')),
    subject       INTEGER NOT NULL,
    article_id    INTEGER NOT NULL,
    board_id      INTEGER NOT NULL,
    reporter_id   INTEGER NOT NULL,
    reporter_name TEXT    NOT NULL,
    reported_at   INTEGER NOT NULL,
    is_open       INTEGER NOT NULL CHECK (is_open IN (0, 1)),
    resolved_by   INTEGER,
    resolved_at   INTEGER,
    reason        TEXT    NOT NULL,
    note          TEXT,
    CHECK (is_open = (resolved_by IS NULL) AND is_open = (resolved_at IS NULL) AND is_open = (note IS NULL))
) STRICT;
CREATE UNIQUE INDEX report_once ON report (kind, subject, reporter_id);
-- With the primary key behind it: (is_open, report_id).
CREATE INDEX report_by_state ON report (is_open);
-- And (board_id, is_open, report_id).
CREATE INDEX report_on_board ON report (board_id, is_open);
