-- Pairs [article, member] of the JSON list ?1. Uses: primary key of article_like.
DELETE FROM article_like
WHERE (article_id, member_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))
