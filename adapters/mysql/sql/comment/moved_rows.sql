-- Rows of every table that a move fills. Whole scans: a move reads everything.
SELECT 'comment', COUNT(*) FROM comment
UNION ALL
SELECT 'article_comment_count', COUNT(*) FROM article_comment_count
UNION ALL
SELECT 'comment_article_gone', COUNT(*) FROM comment_article_gone
UNION ALL
SELECT 'comment_removed', COUNT(*) FROM comment_removed
UNION ALL
SELECT 'once_answer', COUNT(*) FROM once_answer
UNION ALL
SELECT 'moderation_act', COUNT(*) FROM moderation_act
