-- Uses: primary key of like_article_gone.
DELETE FROM like_article_gone
WHERE article_id = ?1
