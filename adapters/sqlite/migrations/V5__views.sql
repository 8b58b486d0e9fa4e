-- View counts as last written back, and the articles whose views are gone for good.

-- The version grows by one with each write-back, and each write-back adds at least one view.
CREATE TABLE article_view_count (
    article_id INTEGER PRIMARY KEY,
    view_count INTEGER NOT NULL CHECK (view_count > 0),
    version    INTEGER NOT NULL CHECK (version > 0)
) STRICT;

-- Never removed: a late write-back must not bring a deleted article's count back.
CREATE TABLE view_article_gone (
    article_id INTEGER PRIMARY KEY
) STRICT;
