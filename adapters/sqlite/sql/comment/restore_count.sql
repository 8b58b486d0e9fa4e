-- Counts the comments that are left of an article whose mark goes. Uses: primary keys of comment_article_gone and
-- article_comment_count, comment_by_parent.
INSERT INTO article_comment_count (article_id, comment_count, row_count, version, greatest_id, locked)
SELECT ?1, coalesce(sum(deleted = 0), 0), count(*),
    max((SELECT version FROM comment_article_gone WHERE article_id = ?1), count(*)) + 1, coalesce(max(comment_id), 0),
    (SELECT locked FROM comment_article_gone WHERE article_id = ?1)
FROM comment
WHERE article_id = ?1
ON CONFLICT (article_id) DO UPDATE
SET comment_count = excluded.comment_count, row_count = excluded.row_count,
    version = max(article_comment_count.version + 1, excluded.version),
    greatest_id = max(article_comment_count.greatest_id, excluded.greatest_id)
