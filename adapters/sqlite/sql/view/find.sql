-- Uses: primary keys of article_view_count and view_article_gone.
SELECT
    (SELECT view_count FROM article_view_count WHERE article_id = ?1),
    (SELECT version FROM article_view_count WHERE article_id = ?1),
    EXISTS (SELECT 1 FROM view_article_gone WHERE article_id = ?1)
