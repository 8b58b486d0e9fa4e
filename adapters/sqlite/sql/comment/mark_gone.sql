-- Marks with the version and the lock of the counter. Uses: primary keys of comment_article_gone and article_comment_count.
INSERT INTO comment_article_gone (article_id, gone_at, version, locked)
VALUES (?1, ?2, coalesce((SELECT version FROM article_comment_count WHERE article_id = ?1), 0),
    coalesce((SELECT locked FROM article_comment_count WHERE article_id = ?1), 0))
ON CONFLICT (article_id) DO NOTHING
