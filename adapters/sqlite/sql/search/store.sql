-- Uses: primary key of search_doc.
INSERT INTO search_doc (generation, id, kind, article_id, board_id, writer_id, created_at, version, gone_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (generation, id) DO UPDATE SET
    kind = excluded.kind, article_id = excluded.article_id, board_id = excluded.board_id, writer_id = excluded.writer_id,
    created_at = excluded.created_at, version = excluded.version, gone_at = excluded.gone_at
