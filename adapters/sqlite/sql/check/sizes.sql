-- Counts all rows of what could grow. Uses: the smallest index of each table.
SELECT
    (SELECT count(*) FROM event_log),
    (SELECT count(*) FROM once_answer),
    (SELECT count(*) FROM dead_letter),
    (SELECT count(*) FROM revocation)
