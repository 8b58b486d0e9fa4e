-- Uses: primary key of like_article_gone.
INSERT INTO like_article_gone (article_id)
VALUES (?1)
ON CONFLICT (article_id) DO NOTHING
