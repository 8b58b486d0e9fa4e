-- Rows of every table that a move fills. Whole scans: a move reads everything.
SELECT 'article_like', COUNT(*) FROM article_like
UNION ALL
SELECT 'article_like_count', COUNT(*) FROM article_like_count
UNION ALL
SELECT 'like_article_gone', COUNT(*) FROM like_article_gone
