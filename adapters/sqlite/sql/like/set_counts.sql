-- Counters [article, count, version] of the JSON list ?1. Uses: primary key of article_like_count.
INSERT INTO article_like_count (article_id, like_count, version)
SELECT value ->> 0, value ->> 1, value ->> 2
FROM json_each(?1)
WHERE true
ON CONFLICT (article_id) DO UPDATE SET like_count = excluded.like_count, version = excluded.version
