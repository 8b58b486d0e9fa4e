-- Articles that are marked as gone, from the cursor on, whatever their shard. Uses: view_article_gone_by_id.
SELECT article_id
FROM view_article_gone FORCE INDEX (view_article_gone_by_id)
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
