-- Uses: primary key of comment_article_gone.
DELETE FROM comment_article_gone
WHERE article_id = ?1
