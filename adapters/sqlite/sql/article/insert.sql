-- Uses: primary key of article.
INSERT INTO article
    (article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content, content_html)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
