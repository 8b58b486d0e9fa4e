-- Uses: primary key of article_like.
INSERT INTO article_like (shard, article_id, member_id, member_name, created_at)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?)
