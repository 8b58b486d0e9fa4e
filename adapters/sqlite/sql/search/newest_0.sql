-- Hits below an id, newest first: the full-text index walks its rows in that order, and the rows beside them are found by
-- primary key of search_doc.
SELECT d.id, d.kind, d.article_id
FROM search_text_0 CROSS JOIN search_doc d
WHERE search_text_0 MATCH ?1 AND search_text_0.rowid < ?2 AND d.generation = 0 AND d.id = search_text_0.rowid
    AND (?3 IS NULL OR d.kind = ?3) AND (?4 IS NULL OR d.board_id = ?4) AND (?5 IS NULL OR d.writer_id = ?5)
    AND (?6 IS NULL OR d.created_at >= ?6) AND (?7 IS NULL OR d.created_at < ?7)
ORDER BY search_text_0.rowid DESC
LIMIT ?8
