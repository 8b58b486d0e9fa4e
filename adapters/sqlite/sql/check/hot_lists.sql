-- Every day with a kept list, and whether it is marked as final. Uses: primary keys of hot_final, in order, and of hot_day.
SELECT day, EXISTS (SELECT 1 FROM hot_day WHERE hot_day.day = hot_final.day)
FROM hot_final
GROUP BY day
