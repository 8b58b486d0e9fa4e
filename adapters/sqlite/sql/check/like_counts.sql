-- Reads all counters that differ from their rows. Uses: primary key of article_like for each.
SELECT article_id, like_count, (SELECT count(*) FROM article_like WHERE article_like.article_id = counter.article_id)
FROM article_like_count AS counter
WHERE like_count <> (SELECT count(*) FROM article_like WHERE article_like.article_id = counter.article_id)
LIMIT ?1
