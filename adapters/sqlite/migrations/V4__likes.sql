-- Likes, their counters, and the articles whose likes are gone for ever.

-- Who likes what; the name is the one they had then.
CREATE TABLE article_like (
    article_id  INTEGER NOT NULL,
    member_id   INTEGER NOT NULL,
    member_name TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (article_id, member_id)
) STRICT, WITHOUT ROWID;

-- Changes in the transaction of the rows it counts; the version grows by one with each such transaction.
CREATE TABLE article_like_count (
    article_id INTEGER PRIMARY KEY,
    like_count INTEGER NOT NULL CHECK (like_count >= 0),
    version    INTEGER NOT NULL
) STRICT;

-- Deleted articles. Kept for ever, so that nothing late brings a like back.
CREATE TABLE like_article_gone (
    article_id INTEGER PRIMARY KEY
) STRICT;
