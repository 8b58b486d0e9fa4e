-- Whether there is such an article, or a removed one. Uses: primary keys of article and article_removed.
SELECT EXISTS (SELECT 1 FROM article WHERE article_id = ?1)
    OR EXISTS (SELECT 1 FROM article_removed WHERE article_id = ?1)
