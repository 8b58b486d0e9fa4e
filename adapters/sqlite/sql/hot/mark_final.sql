-- Uses: primary key of hot_day.
INSERT INTO hot_day (day, finalised_at)
VALUES (?1, ?2)
ON CONFLICT (day) DO NOTHING
