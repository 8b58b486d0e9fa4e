-- The next slice to be moved. Uses: primary key of article_pin.
SELECT article_id, board_id, pinned_at, until
FROM article_pin
WHERE article_id > ?
ORDER BY article_id
LIMIT ?
