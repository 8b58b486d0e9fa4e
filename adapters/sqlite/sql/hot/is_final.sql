-- Uses: primary key of hot_day.
SELECT 1 FROM hot_day WHERE day = ?1
