-- Uses: primary key of article_pin.
INSERT INTO article_pin (article_id, board_id, pinned_at, until)
VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (article_id) DO UPDATE
SET pinned_at = excluded.pinned_at, until = excluded.until
