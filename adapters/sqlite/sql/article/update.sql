-- Uses: primary key of article.
UPDATE article
SET title = ?2, content = ?3, content_html = ?4, modified_at = ?5, version = ?6
WHERE article_id = ?1
