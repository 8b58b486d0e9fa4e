-- Adds ?2, which is 1 or -1, where the count stands. Uses: primary key of article_like_count.
INSERT INTO article_like_count (article_id, like_count, version)
VALUES (?1, max(?2, 0), 1)
ON CONFLICT (article_id) DO UPDATE SET like_count = like_count + ?2, version = version + 1
RETURNING like_count, version
