-- Uses: primary key of article_pin.
INSERT INTO article_pin (shard, article_id, board_id, pinned_at, until)
VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE pinned_at = VALUES(pinned_at), until = VALUES(until)
