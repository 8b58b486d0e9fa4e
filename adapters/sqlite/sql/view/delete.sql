-- Uses: primary key of article_view_count.
DELETE FROM article_view_count
WHERE article_id = ?1
