-- Articles that moderators keep on top of their board, at most a few of each. Goes with its article, in one transaction.
CREATE TABLE article_pin (
    article_id INTEGER PRIMARY KEY,
    board_id   INTEGER NOT NULL,
    pinned_at  INTEGER NOT NULL,
    until      INTEGER
) STRICT;
CREATE INDEX article_pin_by_board ON article_pin (board_id);

-- 1 where an article takes no new comments. Beside the counts, because every new comment reads them in its transaction; and
-- in the mark of a deletion, so that one that proves wrong can be taken away.
ALTER TABLE article_comment_count ADD COLUMN locked INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1));
ALTER TABLE comment_article_gone ADD COLUMN locked INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1));
