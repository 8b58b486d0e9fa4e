-- The oldest day with scores before a day. Uses: primary key of hot_score, in order.
SELECT day FROM hot_score WHERE day < ?1 ORDER BY day LIMIT 1
