-- Counts all rows of what belongs to articles. Uses: the smallest index of each table.
SELECT
    (SELECT count(*) FROM comment),
    (SELECT count(*) FROM article_like),
    (SELECT count(*) FROM article_view_count),
    (SELECT count(*) FROM hot_score)
