-- Rows [article, member, name, created_at] of the JSON list ?1. Uses: primary key of article_like.
INSERT INTO article_like (article_id, member_id, member_name, created_at)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3
FROM json_each(?1)
