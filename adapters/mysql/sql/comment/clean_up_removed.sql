-- A slice of what moderators removed of an article's comments. Uses: comment_removed_by_article.
DELETE FROM comment_removed
WHERE article_id = ?
ORDER BY article_id, comment_id
LIMIT ?
