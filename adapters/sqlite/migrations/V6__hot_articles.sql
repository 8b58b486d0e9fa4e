-- Scores of articles on the day of their creation, and the lists of days that are over.

-- Counts with their versions, from events that occurred on the day; `score` is derived from them. A deleted article keeps an
-- empty row, so that nothing late brings it back. `day` is a date in digits, 20261115.
CREATE TABLE hot_score (
    day             INTEGER NOT NULL,
    article_id      INTEGER NOT NULL,
    like_count      INTEGER NOT NULL CHECK (like_count >= 0),
    like_version    INTEGER NOT NULL,
    comment_count   INTEGER NOT NULL CHECK (comment_count >= 0),
    comment_version INTEGER NOT NULL,
    view_count      INTEGER NOT NULL CHECK (view_count >= 0),
    view_version    INTEGER NOT NULL,
    deleted         INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    score           INTEGER NOT NULL,
    PRIMARY KEY (day, article_id)
) STRICT, WITHOUT ROWID;
-- The ranking: best first, of equals the earlier article. What scores nothing or is deleted has no place in it.
CREATE INDEX hot_ranking ON hot_score (day, score DESC, article_id) WHERE deleted = 0 AND score > 0;

-- Days whose lists are final.
CREATE TABLE hot_day (
    day          INTEGER PRIMARY KEY,
    finalised_at INTEGER NOT NULL
) STRICT;

-- The final lists; a deletion leaves a gap between the places.
CREATE TABLE hot_final (
    day           INTEGER NOT NULL,
    place         INTEGER NOT NULL CHECK (place BETWEEN 1 AND 20),
    article_id    INTEGER NOT NULL,
    score         INTEGER NOT NULL,
    like_count    INTEGER NOT NULL,
    comment_count INTEGER NOT NULL,
    view_count    INTEGER NOT NULL,
    PRIMARY KEY (day, place)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX hot_final_article ON hot_final (day, article_id);
