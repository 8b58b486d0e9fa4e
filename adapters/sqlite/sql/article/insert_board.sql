-- Uses: unique index board_slug, whose conflict is an outcome and not an error.
INSERT INTO board (board_id, slug, title, comment_mode, created_at)
VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (slug) DO NOTHING
