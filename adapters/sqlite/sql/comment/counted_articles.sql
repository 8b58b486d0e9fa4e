-- Uses: primary key of article_comment_count and comment_by_parent, merged in order from the cursor on. Comments without a
-- counter are those of an article that is gone and not yet cleaned up.
SELECT article_id
FROM article_comment_count
WHERE article_id > ?1
UNION
SELECT article_id
FROM comment
WHERE article_id > ?1
ORDER BY article_id
LIMIT ?2
