-- Articles that are marked as gone, from the cursor on, whatever their shard. Uses: comment_article_gone_by_id.
SELECT article_id
FROM comment_article_gone FORCE INDEX (comment_article_gone_by_id)
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
