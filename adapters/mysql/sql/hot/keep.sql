-- The articles of a final list. Uses: primary key of hot_final.
INSERT INTO hot_final (shard, day, place, article_id, score, like_count, comment_count, view_count)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?, ?, ?, ?)
