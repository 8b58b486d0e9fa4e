-- Of the pairs [article, member] in the JSON list ?1, those that are there. Uses: primary key of article_like.
SELECT article_like.article_id, article_like.member_id
FROM json_each(?1)
CROSS JOIN article_like
    ON article_like.article_id = json_each.value ->> 0 AND article_like.member_id = json_each.value ->> 1
