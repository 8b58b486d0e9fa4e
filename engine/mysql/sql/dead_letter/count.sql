-- A person looks after the letters, so there are few. A whole scan.
SELECT COUNT(*)
FROM dead_letter
