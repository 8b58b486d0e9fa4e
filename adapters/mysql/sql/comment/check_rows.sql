-- The comments of a range of articles, counted. Uses: comment_by_parent.
SELECT article_id, CAST(SUM(deleted = 0) AS UNSIGNED), COUNT(*), MAX(comment_id), MAX(shard),
    MAX(IF(deleted = 0, comment_id, 0))
FROM comment FORCE INDEX (comment_by_parent)
WHERE article_id > ? AND article_id <= ?
GROUP BY article_id
