-- Uses: primary key of article.
DELETE FROM article
WHERE article_id = ?1
RETURNING board_id, version
