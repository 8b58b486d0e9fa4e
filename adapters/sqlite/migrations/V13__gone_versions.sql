-- What a mark of a deletion replaced, so that one that proves wrong can be taken away: the version of the counter, and the
-- views themselves, which are no more than a number. Marks from before know neither.
ALTER TABLE comment_article_gone ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE like_article_gone ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE view_article_gone ADD COLUMN view_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE view_article_gone ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
