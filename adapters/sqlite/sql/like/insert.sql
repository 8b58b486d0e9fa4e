-- Uses: primary key of article_like.
INSERT INTO article_like (article_id, member_id, member_name, created_at)
VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (article_id, member_id) DO NOTHING
