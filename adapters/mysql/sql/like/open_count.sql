-- The first count of an article, unless somebody was faster. Uses: primary key of article_like_count.
INSERT IGNORE INTO article_like_count (shard, article_id, like_count, version)
VALUES (?, ?, ?, ?)
