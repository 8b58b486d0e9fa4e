-- Uses: primary key of article_comment_count.
SELECT comment_count, row_count, version, greatest_id
FROM article_comment_count
WHERE article_id = ?1
