-- Uses: primary key of article_removed.
DELETE FROM article_removed
WHERE article_id = ?1
