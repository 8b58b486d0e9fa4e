-- Uses: primary key of article_like.
DELETE FROM article_like
WHERE article_id = ?1 AND member_id = ?2
