-- Adds to a counter where it stands. Uses: primary key of article_like_count.
INSERT INTO article_like_count (shard, article_id, like_count, version)
VALUES (?, ?, 1, 1)
ON DUPLICATE KEY UPDATE like_count = like_count + ?, version = version + 1
