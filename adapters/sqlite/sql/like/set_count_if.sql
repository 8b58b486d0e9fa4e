-- Writes what was computed from a count read earlier, unless it has changed since. Uses: primary key of
-- article_like_count.
INSERT INTO article_like_count (article_id, like_count, version)
VALUES (?1, ?2, ?3)
ON CONFLICT (article_id) DO UPDATE SET like_count = excluded.like_count, version = excluded.version
WHERE version = excluded.version - 1
