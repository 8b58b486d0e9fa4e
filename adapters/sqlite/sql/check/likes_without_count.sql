-- Reads all likes in the order of their primary key, and counts those of articles without a counter.
SELECT article_id, count(*)
FROM article_like
WHERE NOT EXISTS (
    SELECT 1 FROM article_like_count AS counter WHERE counter.article_id = article_like.article_id
)
GROUP BY article_id
LIMIT ?1
