-- Uses: primary keys of view_article_gone and article_view_count.
INSERT INTO article_view_count (article_id, view_count, version)
SELECT article_id, view_count, version
FROM view_article_gone
WHERE article_id = ?1 AND version > 0
ON CONFLICT (article_id) DO NOTHING
