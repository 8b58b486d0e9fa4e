-- Uses: primary key of view_article_gone.
INSERT INTO view_article_gone (article_id)
VALUES (?1)
ON CONFLICT (article_id) DO NOTHING
