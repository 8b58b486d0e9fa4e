-- Uses: primary key of article.
UPDATE article FORCE INDEX (PRIMARY)
SET title = ?, content = ?, content_html = ?, modified_at = ?, version = ?
WHERE shard = ? AND article_id = ?
