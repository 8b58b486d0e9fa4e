-- Reads all counters with the rows they count. Uses: primary key of article_comment_count, in order; comment_by_parent.
SELECT c.article_id, c.comment_count, c.row_count, c.version, c.greatest_id,
    count(r.comment_id), count(r.content), coalesce(max(r.comment_id), 0),
    EXISTS (SELECT 1 FROM comment_article_gone g WHERE g.article_id = c.article_id),
    c.noted_version = c.version, coalesce(c.last_comment_id, 0), coalesce(max(iif(r.deleted = 0, r.comment_id, 0)), 0)
FROM article_comment_count c
LEFT JOIN comment r ON r.article_id = c.article_id
GROUP BY c.article_id
