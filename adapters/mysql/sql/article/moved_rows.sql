-- Rows of every table that a move fills. Whole scans: a move reads everything.
SELECT 'board', COUNT(*) FROM board
UNION ALL
SELECT 'board_article_count', COUNT(*) FROM board_article_count
UNION ALL
SELECT 'article_block', COUNT(*) FROM article_block
UNION ALL
SELECT 'article', COUNT(*) FROM article
UNION ALL
SELECT 'article_pin', COUNT(*) FROM article_pin
UNION ALL
SELECT 'article_removed', COUNT(*) FROM article_removed
UNION ALL
SELECT 'once_answer', COUNT(*) FROM once_answer
UNION ALL
SELECT 'moderation_act', COUNT(*) FROM moderation_act
