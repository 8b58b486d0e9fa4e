-- One row for each article of the JSON list ?1: whether it is gone, and its counter. Uses: primary keys of
-- like_article_gone and article_like_count.
SELECT json_each.value, gone.article_id IS NOT NULL, coalesce(counter.like_count, 0), coalesce(counter.version, 0)
FROM json_each(?1)
LEFT JOIN like_article_gone AS gone ON gone.article_id = json_each.value
LEFT JOIN article_like_count AS counter ON counter.article_id = json_each.value
