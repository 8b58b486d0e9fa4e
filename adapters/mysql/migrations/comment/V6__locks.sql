-- 1 where an article takes no new comments. Beside the counts, because every new comment locks them; and in the mark of a
-- deletion, so that one that proves wrong can be taken away.
ALTER TABLE article_comment_count ADD COLUMN locked TINYINT UNSIGNED NOT NULL DEFAULT 0;
ALTER TABLE comment_article_gone ADD COLUMN locked TINYINT UNSIGNED NOT NULL DEFAULT 0;
