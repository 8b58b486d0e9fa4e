-- Counts the rows of some shards. Uses: primary key of once_answer.
SELECT COUNT(*)
FROM once_answer FORCE INDEX (PRIMARY)
WHERE shard IN (
-- rows, joined by ,
?
-- after the rows
)
