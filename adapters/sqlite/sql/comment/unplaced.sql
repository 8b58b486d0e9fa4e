-- Counters that a version before wrote, from the cursor on. Uses: primary key of article_comment_count, in order.
SELECT article_id
FROM article_comment_count
WHERE article_id > ?1 AND comment_count > 0 AND (board_id IS NULL OR noted_version <> version)
ORDER BY article_id
LIMIT ?2
