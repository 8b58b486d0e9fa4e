-- Counts all rows. Uses: whichever covering index is the smallest.
SELECT count(*)
FROM article
