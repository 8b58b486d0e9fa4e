-- Rows of every table that a move fills. Whole scans: a move reads everything.
SELECT 'article_view_count', COUNT(*) FROM article_view_count
UNION ALL
SELECT 'view_article_gone', COUNT(*) FROM view_article_gone
