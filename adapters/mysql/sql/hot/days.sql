-- The days that a server knows of: eight, and those that are being forgotten. A whole scan.
SELECT day
FROM hot_day
