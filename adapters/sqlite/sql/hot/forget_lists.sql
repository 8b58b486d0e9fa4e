-- Uses: primary key of hot_final.
DELETE FROM hot_final WHERE day < ?1
