-- Marks with the counter that goes. Uses: primary keys of view_article_gone and article_view_count.
INSERT INTO view_article_gone (article_id, view_count, version)
VALUES (
    ?1,
    coalesce((SELECT view_count FROM article_view_count WHERE article_id = ?1), 0),
    coalesce((SELECT version FROM article_view_count WHERE article_id = ?1), 0)
)
ON CONFLICT (article_id) DO NOTHING
