-- Whoever changes a day does so alone. Uses: primary key of hot_day.
INSERT INTO hot_day (shard, day, finalised_at)
VALUES (?, ?, NULL)
ON DUPLICATE KEY UPDATE day = VALUES(day)
