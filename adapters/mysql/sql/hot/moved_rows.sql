-- Rows of every table that a move fills; of days only those that are final. Whole scans: a move reads everything.
SELECT 'hot_day', COUNT(*) FROM hot_day WHERE finalised_at IS NOT NULL
UNION ALL
SELECT 'hot_score', COUNT(*) FROM hot_score
UNION ALL
SELECT 'hot_final', COUNT(*) FROM hot_final
