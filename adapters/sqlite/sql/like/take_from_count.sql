-- Uses: primary key of article_like_count.
UPDATE article_like_count
SET like_count = like_count - ?2, version = version + 1
WHERE article_id = ?1
