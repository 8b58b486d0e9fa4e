-- What boards are about, in which order they stand, and whether they take changes.
ALTER TABLE board
    ADD COLUMN description VARCHAR(1000) NOT NULL DEFAULT '',
    ADD COLUMN position    INT           NOT NULL DEFAULT 0;
-- 0 open, 1 archived, 2 deleted. Beside the count, because every change of an article locks that.
ALTER TABLE board_article_count ADD COLUMN state TINYINT UNSIGNED NOT NULL DEFAULT 0;
