-- Uses: primary key of article_like_count.
DELETE FROM article_like_count
WHERE article_id = ?1
