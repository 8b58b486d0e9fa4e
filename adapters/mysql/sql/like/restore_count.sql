-- Counts the likes that are left of an article whose mark goes; its counter is locked and so there. Uses: primary key of
-- article_like_count, primary key of like_article_gone, primary key of article_like.
UPDATE article_like_count c FORCE INDEX (PRIMARY)
JOIN like_article_gone g ON g.shard = c.shard AND g.article_id = c.article_id
SET c.like_count = (SELECT COUNT(*) FROM article_like l WHERE l.shard = c.shard AND l.article_id = c.article_id),
    c.version = GREATEST(c.version, g.version) + 1
WHERE c.shard = ? AND c.article_id = ?
