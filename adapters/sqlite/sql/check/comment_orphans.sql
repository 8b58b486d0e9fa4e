-- Reads all comments. Uses: comment_by_parent (covering); primary keys of comment and comment_article_gone.
SELECT r.comment_id
FROM comment r
WHERE NOT EXISTS (SELECT 1 FROM comment p WHERE p.comment_id = r.parent_id AND p.article_id = r.article_id)
    AND NOT EXISTS (SELECT 1 FROM comment_article_gone g WHERE g.article_id = r.article_id)
