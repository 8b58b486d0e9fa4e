-- Whether an article is gone, its counter, and whether a member likes it, of one moment. Uses: primary key of
-- like_article_gone, primary key of article_like_count, primary key of article_like.
SELECT
    (SELECT 1 FROM like_article_gone WHERE shard = ? AND article_id = ?),
    (SELECT like_count FROM article_like_count WHERE shard = ? AND article_id = ?),
    (SELECT 1 FROM article_like WHERE shard = ? AND article_id = ? AND member_id = ?)
