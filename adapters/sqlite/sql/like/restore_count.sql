-- Counts the likes that are left of an article whose mark goes. Uses: primary keys of like_article_gone, article_like and
-- article_like_count.
INSERT INTO article_like_count (article_id, like_count, version)
SELECT article_id, (SELECT count(*) FROM article_like WHERE article_id = ?1), version + 1
FROM like_article_gone
WHERE article_id = ?1
ON CONFLICT (article_id) DO UPDATE
SET like_count = excluded.like_count, version = max(article_like_count.version + 1, excluded.version)
RETURNING like_count, version
