-- A person looks after the letters, so there are few. Uses: primary key of dead_letter.
SELECT COUNT(*)
FROM dead_letter FORCE INDEX (PRIMARY)
WHERE shard IN (
-- rows, joined by ,
?
-- after the rows
)
