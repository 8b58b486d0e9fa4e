-- The next slice to be moved. Uses: primary key of article.
SELECT
    article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content,
    content_html
FROM article
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
