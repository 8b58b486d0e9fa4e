-- Adds an article to a final list. Uses: primary key of hot_final.
INSERT INTO hot_final (day, place, article_id, score, like_count, comment_count, view_count)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
