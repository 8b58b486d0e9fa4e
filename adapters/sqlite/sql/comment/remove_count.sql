-- Uses: primary key of article_comment_count.
DELETE FROM article_comment_count
WHERE article_id = ?1
