-- What boards are about, in which order they stand, and whether they take changes.
ALTER TABLE board ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE board ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
-- 0 open, 1 archived, 2 deleted. Beside the count, because every change of an article reads that in its transaction.
ALTER TABLE board_article_count ADD COLUMN state INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1, 2));
