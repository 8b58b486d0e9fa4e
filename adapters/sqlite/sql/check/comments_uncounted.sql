-- Reads all comments. Uses: comment_by_parent (covering), in order; primary keys of article_comment_count and
-- comment_article_gone.
SELECT r.article_id, count(*)
FROM comment r
WHERE NOT EXISTS (SELECT 1 FROM article_comment_count c WHERE c.article_id = r.article_id)
    AND NOT EXISTS (SELECT 1 FROM comment_article_gone g WHERE g.article_id = r.article_id)
GROUP BY r.article_id
