-- Rows of a site that moves here; those that came before stay. Uses: primary key of article_pin.
INSERT INTO article_pin (shard, article_id, board_id, pinned_at, until) VALUES
-- rows, joined by ,
(?, ?, ?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE article_id = article_id
