-- Takes deleted articles from a final list. Uses: hot_final_article.
DELETE f FROM hot_final f FORCE INDEX (hot_final_article)
WHERE
-- rows, joined by OR
(f.shard = ? AND f.day = ? AND f.article_id = ?)
