-- Uses: primary key of article.
SELECT article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content, content_html
FROM article FORCE INDEX (PRIMARY)
WHERE
-- rows, joined by OR
(shard = ? AND article_id = ?)
