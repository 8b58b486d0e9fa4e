-- Rows of every table that is moved. Reads whole indexes: a move reads everything.
SELECT 'member', count(*) FROM member
UNION ALL
SELECT 'revocation', count(*) FROM revocation
UNION ALL
SELECT 'moderation_act', count(*) FROM moderation_act
UNION ALL
SELECT 'report', count(*) FROM report
UNION ALL
SELECT 'board', count(*) FROM board
UNION ALL
SELECT 'article_pin', count(*) FROM article_pin
UNION ALL
SELECT 'board_article_count', count(*) FROM board_article_count
UNION ALL
SELECT 'article_block', count(*) FROM article_block
UNION ALL
SELECT 'article', count(*) FROM article
UNION ALL
SELECT 'article_removed', count(*) FROM article_removed
UNION ALL
SELECT 'comment_removed', count(*) FROM comment_removed
UNION ALL
SELECT 'once_answer', count(*) FROM once_answer
UNION ALL
SELECT 'comment', count(*) FROM comment
UNION ALL
SELECT 'article_comment_count', count(*) FROM article_comment_count
UNION ALL
SELECT 'comment_article_gone', count(*) FROM comment_article_gone
UNION ALL
SELECT 'article_like', count(*) FROM article_like
UNION ALL
SELECT 'article_like_count', count(*) FROM article_like_count
UNION ALL
SELECT 'like_article_gone', count(*) FROM like_article_gone
UNION ALL
SELECT 'article_view_count', count(*) FROM article_view_count
UNION ALL
SELECT 'view_article_gone', count(*) FROM view_article_gone
UNION ALL
SELECT 'hot_day', count(*) FROM hot_day
UNION ALL
SELECT 'hot_score', count(*) FROM hot_score
UNION ALL
SELECT 'hot_final', count(*) FROM hot_final
