-- Rows of a site that moves here; a day that was open may be final. Uses: primary key of hot_day.
INSERT INTO hot_day (shard, day, finalised_at) VALUES
-- rows, joined by ,
(?, ?, ?)
-- after the rows
ON DUPLICATE KEY UPDATE finalised_at = COALESCE(finalised_at, VALUES(finalised_at))
