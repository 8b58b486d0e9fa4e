-- 1 while the article is removed and may be restored, at the article's version: its counts are kept and score nothing.
ALTER TABLE hot_score ADD COLUMN hidden TINYINT UNSIGNED NOT NULL DEFAULT 0;
ALTER TABLE hot_score ADD COLUMN hidden_version BIGINT UNSIGNED NOT NULL DEFAULT 0;
