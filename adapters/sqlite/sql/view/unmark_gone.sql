-- Uses: primary key of view_article_gone.
DELETE FROM view_article_gone
WHERE article_id = ?1
