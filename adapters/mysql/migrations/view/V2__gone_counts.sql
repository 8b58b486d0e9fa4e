-- The counter that a mark of a deletion replaced, so that one that proves wrong can be taken away. Marks from before do not
-- know it. By id, because a check walks them.
ALTER TABLE view_article_gone
    ADD COLUMN view_count BIGINT UNSIGNED NOT NULL DEFAULT 0,
    ADD COLUMN version    BIGINT UNSIGNED NOT NULL DEFAULT 0,
    ADD KEY view_article_gone_by_id (article_id);
