-- How many letters there are; few, because a person looks after them. A whole scan.
SELECT count(*) FROM dead_letter
