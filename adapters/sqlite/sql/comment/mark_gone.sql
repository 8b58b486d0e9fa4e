-- Uses: primary key of comment_article_gone.
INSERT INTO comment_article_gone (article_id, gone_at)
VALUES (?1, ?2)
ON CONFLICT (article_id) DO NOTHING
