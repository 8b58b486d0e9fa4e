-- A page under an id: the offset is skipped in the index alone, then only the rows of the page are read.
-- Uses: article_by_board (covering) for the ids, primary key of article for the rows.
SELECT a.article_id, a.board_id, a.writer_id, a.version, a.created_at, a.modified_at, a.writer_name, a.title
FROM (
    SELECT article_id
    FROM article
    WHERE board_id = ?1 AND article_id < ?2
    ORDER BY article_id DESC
    LIMIT ?3 OFFSET ?4
) page
CROSS JOIN article a ON a.article_id = page.article_id
