-- Marks with the version of the counter. Uses: primary keys of like_article_gone and article_like_count.
INSERT INTO like_article_gone (article_id, version)
VALUES (?1, coalesce((SELECT version FROM article_like_count WHERE article_id = ?1), 0))
ON CONFLICT (article_id) DO NOTHING
